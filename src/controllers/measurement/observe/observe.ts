import type { Client } from '../../../runtime/client/client.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, PODS } from '../../../runtime/client/resources.ts';
import { isOurPod } from '../../contract/ownership.ts';
import type { Component } from '../components/component.ts';
import { allComponents } from '../components/components.ts';
import { lacksExporters, type ExportersObservation } from '../model/missingExporters.ts';
import { exporterNamespace } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';

/**
 * Reads the input for the decision about missing exporters. Lists the pods only while the DaemonSet lacks some: a watch of
 * all pods would have no other use. The right to list pods exists for the clean-up anyway.
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
