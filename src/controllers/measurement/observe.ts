import type { V1OwnerReference } from '@kubernetes/client-node';
import type { Client } from '../../runtime/client.ts';
import { isNotFound } from '../../runtime/errors.ts';
import { keyOf, refOfKey } from '../../runtime/resource.ts';
import type { KubeObject } from '../../runtime/resource.ts';
import { PODS } from '../../runtime/resources.ts';
import type { Component } from './components/component.ts';
import { allComponents, allTargetComponents } from './components/components.ts';
import type { Observation, ObservedComponent } from './decide/plan.ts';
import { exporterNamespace, isOurs } from './names.ts';
import type { MeasurementOptions } from './options.ts';

/** Where an observation comes from. */
export interface Sources {
  client: Client;
  live: (component: Component) => KubeObject | undefined | Promise<KubeObject | undefined>;
}

/**
 * Reads all that a decision about the components needs. The ConfigMaps of the targets are among them only where they
 * have to go.
 *
 * @throws ApiError, TransportError
 */
export async function observe(
  options: MeasurementOptions,
  owner: V1OwnerReference | undefined,
  { client, live }: Sources,
): Promise<Observation> {
  const enabled = { exporter: options.exporter.enabled, prometheus: options.prometheus.enabled };
  const targets = enabled.prometheus ? [] : allTargetComponents(options);
  const components: ObservedComponent[] = [];
  for (const component of [...allComponents(options, owner), ...targets]) {
    components.push({ component, live: await live(component) });
  }
  const strangers = enabled.exporter || !hasNamespace(components) ? [] : await listStrangers(client, options);
  return { components, enabled, strangers };
}

/** Reads one object from the API server; undefined where there is none. */
export async function readLive(client: Client, component: Component): Promise<KubeObject | undefined> {
  try {
    return await client.get(component.resource, refOfKey(keyOf(component.object)));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function hasNamespace(components: readonly ObservedComponent[]): boolean {
  return components.some(
    ({ component, live }) =>
      component.resource.kind === 'Namespace' && live !== undefined && live.metadata?.deletionTimestamp === undefined,
  );
}

async function listStrangers(client: Client, options: MeasurementOptions): Promise<string[]> {
  const pods = await client.list(PODS, { namespace: exporterNamespace(options.namespace) });
  // Pods have an owner that controls them; ours are told by the labels of our own template.
  return pods.filter((pod) => !isOurs({ metadata: { labels: pod.metadata?.labels ?? {} } })).map(keyOf);
}
