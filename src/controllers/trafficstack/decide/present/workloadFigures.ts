import type { V1DeploymentSpec } from '@kubernetes/client-node';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import { idOf } from '../../../../runtime/objectSet/objectSet.ts';
import type { ObservedComponent, ObservedObject } from '../../observe/observation.ts';
import { workloadsOf } from '../../render/kinds.ts';
import { podsOfAll, readinessOf, type Readiness } from './readiness.ts';

/** What runs pods, or not: a TrafficWeight has no template. */
type Workload = KubeObject & { readonly spec?: Partial<V1DeploymentSpec> };

/** What is observed of an object whose status is of its generation. */
export function figuresText(workload: ObservedObject): string {
  const { live } = workload;
  const { condition, desired = 0, available = 0, updated }: Partial<Readiness> = live ? readinessOf(live) : {};
  if (condition !== undefined) return `${idOf(workload)}: ${condition.message}`;
  const isNowhere = desired === 0 && workload.resource.kind === 'DaemonSet';
  // Enough are available: without this, the message would not say why it is not ready.
  const ofUpdate = updated === undefined || available < desired ? '' : `, ${updated.pods} of ${updated.of} updated`;
  const why = isNowhere ? ': no node is selected' : ofUpdate;
  return `${idOf(workload)}: ${available} of ${desired} pods are available${why}`;
}

/** Its pods; nothing without a workload that runs some. */
export function figuresOf({ objects }: ObservedComponent): Partial<ComponentStatus> {
  const workloads = workloadsOf(objects);
  const pods = workloads.length === 0 ? undefined : podsOfAll(workloads);
  return pods === undefined ? {} : { replicas: pods.desired, readyReplicas: pods.available };
}

/** The image of the first container: as asked for, or of somebody else's workload as it is. */
export function versionOf(
  { objects }: ObservedComponent,
  { mode }: Pick<ComponentStatus, 'mode'>,
): Pick<ComponentStatus, 'version'> {
  const { object, live } = objects.at(-1) ?? {};
  const workload: Workload | undefined = mode === 'External' ? live : object;
  const image = workload?.spec?.template?.spec?.containers[0]?.image;
  return image === undefined ? {} : { version: image };
}
