import type { V1Pod } from '@kubernetes/client-node';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, PODS } from '../../../runtime/client/resources.ts';
import type { Component } from '../components/component.ts';
import { allComponents } from '../components/components.ts';
import { lacksExporters, type ExportersObservation } from '../decide/missingExporters.ts';
import { exporterNamespace, isOurs } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';

/**
 * The pods in a namespace that are not ours, as 'namespace/name'.
 *
 * @throws ApiError, TransportError
 */
export async function listStrangers(client: Client, namespace: string): Promise<string[]> {
  const pods = await client.list(PODS, { namespace });
  return pods.filter((pod) => !isOurPod(pod)).map(keyOf);
}

/**
 * Reads the input for the decision about missing exporters. Lists the pods only while the DaemonSet lacks some, because
 * a watch of all pods would serve nothing else. The right to list pods exists for the clean-up anyway.
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
  const pods = await client.list(PODS, { namespace: exporterNamespace(options.namespace) });
  return { daemonSet, pods: pods.filter(isOurPod) };
}

/**
 * Recognizes our pods by the labels of our template. Passes only labels to isOurs, which rejects objects with a
 * controller.
 */
function isOurPod({ metadata }: V1Pod): boolean {
  return isOurs({ metadata: { labels: metadata?.labels ?? {} } });
}
