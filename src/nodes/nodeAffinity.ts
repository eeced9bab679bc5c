import type { V1NodeSelectorRequirement, V1NodeSelectorTerm, V1PodSpec } from '@kubernetes/client-node';
import { labelOf, type CachedNode, type Labelled } from './cachedNode.ts';

/** Where the pods of a DaemonSet run. */
export type Placement = Pick<V1PodSpec, 'nodeSelector' | 'affinity'>;
/** The parts of a Node that the placement of pods depends on. */
type Place = Labelled & { readonly name: string };

/**
 * Creates a function that tells whether pods may run on a node by their nodeSelector and required node affinity, as Kubernetes decides:
 * one of the terms must match, each with all of its requirements, and an empty term matches no node. Taints do not count.
 */
export function createPlacementMatcher({ nodeSelector = {}, affinity }: Placement): (node: Place) => boolean {
  const labels = Object.entries(nodeSelector);
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (node) =>
    labels.every(([key, value]) => labelOf(node, key) === value) &&
    (terms === undefined || terms.some((term) => matchesTerm(term, node)));
}

/** A node that may be left out, cannot be measured, or is off. */
export type MeasurablePlace = Place & Pick<CachedNode, 'neverMeasured' | 'notReadySince'>;

/** The nodes that should be measured: those that can be, are Ready, and on which pods with this placement may run. */
export function measurableNodes<T extends MeasurablePlace>(nodes: readonly T[], placement: Placement = {}): T[] {
  const runsOn = createPlacementMatcher(placement);
  return nodes.filter((node) => node.neverMeasured === undefined && node.notReadySince === undefined && runsOn(node));
}

function matchesTerm({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm, node: Place): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((each) => matches(each, labelOf(node, each.key))) &&
    // metadata.name is the only field: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
    matchFields.every((each) => matches(each, node.name))
  );
}

function matches({ operator, values = [] }: V1NodeSelectorRequirement, value: string | undefined): boolean {
  const isIn = value !== undefined && values.includes(value);
  switch (operator) {
    case 'In':
      return isIn;
    case 'NotIn':
      return !isIn;
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return integer(value) > integer(values[0]);
    case 'Lt':
      return integer(value) < integer(values[0]);
    default:
      return false;
  }
}

/** NaN if it is no integer: then no comparison holds. */
function integer(text: string | undefined): number {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
}
