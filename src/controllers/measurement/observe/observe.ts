import type { V1OwnerReference, V1Pod } from '@kubernetes/client-node';
import type { Client } from '../../../runtime/client/client.ts';
import { isNotFound } from '../../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../../runtime/client/resource.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, PODS } from '../../../runtime/client/resources.ts';
import type { Component, ComponentGroup } from '../components/component.ts';
import { allComponents, allTargetComponents } from '../components/components.ts';
import { lacksExporters, type ExportersObservation } from '../decide/missingExporters.ts';
import type { Observation, ObservedComponent } from '../decide/plan.ts';
import { exporterNamespace, isOurs } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';

/** Where an observation comes from. */
export interface Sources {
  client: Client;
  live: (component: Component) => KubeObject | undefined | Promise<KubeObject | undefined>;
  /** Parts about whose objects `live` may be wrong. */
  unknown: ReadonlySet<ComponentGroup>;
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
  { client, live, unknown }: Sources,
): Promise<Observation> {
  const enabled = { exporter: options.exporter.enabled, prometheus: options.prometheus.enabled };
  const targets = enabled.prometheus ? [] : allTargetComponents(options);
  const components: ObservedComponent[] = [];
  for (const component of [...allComponents(options, owner), ...targets]) {
    components.push({ component, live: await live(component) });
  }
  const mayGo = !enabled.exporter && !unknown.has('exporter') && hasNamespace(components);
  const strangers = mayGo ? await listStrangers(client, options) : [];
  return { components, enabled, unknown, strangers };
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
  const pods = await listPods(client, options);
  return pods.filter((pod) => !isOurPod(pod)).map(keyOf);
}

/**
 * Reads what a decision about exporters that are not ready needs. The pods are asked for only while the DaemonSet says
 * that some lack: the right to list them is there for the clean-up, and a watch of all would be for this alone.
 *
 * @throws ApiError, TransportError
 */
export async function observeExporters(
  options: MeasurementOptions,
  { client, live }: { client: Client; live: (component: Component) => KubeObject | undefined },
): Promise<Pick<ExportersObservation, 'daemonSet' | 'pods'>> {
  const component = allComponents(options).find(({ resource }) => resource.kind === DAEMONSETS.kind);
  const daemonSet = component === undefined ? undefined : live(component);
  if (!options.exporter.enabled || daemonSet === undefined || !lacksExporters(daemonSet)) {
    return { daemonSet: undefined, pods: [] };
  }
  return { daemonSet, pods: (await listPods(client, options)).filter(isOurPod) };
}

function listPods(client: Client, { namespace }: MeasurementOptions): Promise<V1Pod[]> {
  return client.list(PODS, { namespace: exporterNamespace(namespace) });
}

/** Pods have an owner that controls them; ours are told by the labels of our own template. */
function isOurPod({ metadata }: V1Pod): boolean {
  return isOurs({ metadata: { labels: metadata?.labels ?? {} } });
}
