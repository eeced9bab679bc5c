import type {
  V1Affinity,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PreferredSchedulingTerm,
} from '@kubernetes/client-node';
import type { Placement } from '../../../../api/trafficwatch/placement.ts';
import { labelValueOf } from '../labels/labelValue.ts';

/** The greatest there is, so that no other preferred term of the user outweighs it: 1 to 100. */
const WEIGHT = 100;

/** The requirement that keeps pods off unfit nodes: it also holds on nodes without the label. */
export function fitRequirement(labelKey: string): V1NodeSelectorRequirement {
  return { key: labelKey, operator: 'NotIn', values: [labelValueOf('above')] };
}

/** A term without expressions and fields matches no node: https://kubernetes.io/docs/reference/kubernetes-api/. */
function isEmptyTerm(term: V1NodeSelectorTerm): boolean {
  return !term.matchExpressions?.length && !term.matchFields?.length;
}

function sameRequirement(a: V1NodeSelectorRequirement, b: V1NodeSelectorRequirement): boolean {
  return a.key === b.key && a.operator === b.operator && JSON.stringify(a.values) === JSON.stringify(b.values);
}

function withRequirement(term: V1NodeSelectorTerm, requirement: V1NodeSelectorRequirement): V1NodeSelectorTerm {
  const present = term.matchExpressions ?? [];
  if (isEmptyTerm(term) || present.some((r) => sameRequirement(r, requirement))) return term;
  return { ...term, matchExpressions: [...present, requirement] };
}

/**
 * The user's affinity with the requirement that a node is not unfit.
 *
 * Terms are ORed, so a term of ours beside the user's would be a way round either; the requirement goes into EVERY
 * term that can match a node. An empty term matches nothing and stays as it is. Without terms, ours is the only one.
 */
export function withFitNodesOnly(affinity: V1Affinity | undefined, labelKey: string): V1Affinity {
  const requirement = fitRequirement(labelKey);
  const nodeAffinity = affinity?.nodeAffinity;
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const nodeSelectorTerms =
    terms.length > 0 ? terms.map((term) => withRequirement(term, requirement)) : [{ matchExpressions: [requirement] }];
  return {
    ...affinity,
    nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
}

/** True when every term that can match a node asks for the key, so that no pod lands on a node that is unfit by it. */
export function keepsOffUnfit(affinity: V1Affinity | undefined, labelKey: string): boolean {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const requirement = fitRequirement(labelKey);
  return (
    terms.length > 0 &&
    terms.every((t) => isEmptyTerm(t) || (t.matchExpressions ?? []).some((r) => sameRequirement(r, requirement)))
  );
}

function isFitTerm({ weight, preference }: V1PreferredSchedulingTerm, requirement: V1NodeSelectorRequirement): boolean {
  const [first, ...more] = preference.matchExpressions ?? [];
  const isAlone = more.length === 0 && !preference.matchFields?.length;
  return weight === WEIGHT && first !== undefined && isAlone && sameRequirement(first, requirement);
}

/**
 * The user's affinity with a preference for nodes that are not unfit, beside the user's own preferences. The required
 * terms stay as they are, so that a kubelet that restarts on an unfit node has nothing to reject the pods for.
 */
export function withFitNodesPreferred(affinity: V1Affinity | undefined, labelKey: string): V1Affinity {
  const requirement = fitRequirement(labelKey);
  const nodeAffinity = affinity?.nodeAffinity;
  const theirs = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const ours = { weight: WEIGHT, preference: { matchExpressions: [requirement] } };
  const preferred = theirs.some((term) => isFitTerm(term, requirement)) ? theirs : [...theirs, ours];
  return {
    ...affinity,
    nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: preferred },
  };
}

/** The user's affinity with what the placement adds to it. */
export function withFitNodes(affinity: V1Affinity | undefined, labelKey: string, placement: Placement): V1Affinity {
  return placement === 'Preferred' ? withFitNodesPreferred(affinity, labelKey) : withFitNodesOnly(affinity, labelKey);
}

/** True when pods with this affinity are scheduled by the key in the way of the placement. */
export function schedulesBy(affinity: V1Affinity | undefined, labelKey: string, placement: Placement): boolean {
  if (placement === 'Required') return keepsOffUnfit(affinity, labelKey);
  const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.some((term) => isFitTerm(term, fitRequirement(labelKey)));
}
