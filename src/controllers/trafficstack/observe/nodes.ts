import { isDeepStrictEqual } from 'node:util';
import { labelOf, type CachedNode } from '../../../nodes/cachedNode.ts';
import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { InformerEvent, Lister } from '../../../runtime/cache/informer.ts';
import type { StackPod } from './observation.ts';

/** How many nodes have all of these labels, also those that are not ready: a node that is off for a while changes no number. */
export function countNodesWith(nodes: readonly CachedNode[], nodeSelector: Readonly<Record<string, string>>): number {
  const labels = Object.entries(nodeSelector);
  return nodes.filter((node) => labels.every(([key, value]) => labelOf(node, key) === value)).length;
}

/** Whether a stack has one pod for each node with certain labels. */
export function countsNodes({ spec }: TrafficStack): boolean {
  // An older CRD may have accepted anything.
  const availability = (spec as Partial<TrafficStack['spec']> | undefined)?.highAvailability;
  return availability !== undefined && availability.replicas === undefined;
}

/** Whether an event may change such a number. */
export function mayChangeCount(event: InformerEvent<CachedNode>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const labelsOf = ({ labels, otherLabels, hostname }: CachedNode) => [labels, otherLabels, hostname];
  return !isDeepStrictEqual(labelsOf(event.old), labelsOf(event.object));
}

/** Whether a Node has become Ready, or is not Ready any more. */
export function mayChangePods(event: InformerEvent<CachedNode>): boolean {
  const before = event.type === 'update' ? event.old?.notReadySince : undefined;
  return before !== event.object.notReadySince;
}

/** Pods with their node, if that is not Ready. A pod whose containers have all ended needs no node any more. */
export function withLostNodes(pods: readonly StackPod[], nodes: Pick<Lister<CachedNode>, 'get'>): readonly StackPod[] {
  return pods.map((pod) => {
    const { nodeName: name, containers } = pod;
    const since = name === undefined ? undefined : nodes.get(name)?.notReadySince;
    const hasEnded = containers.length > 0 && containers.every(({ ended }) => ended !== undefined);
    return name === undefined || since === undefined || hasEnded ? pod : { ...pod, lostNode: { name, since } };
  });
}
