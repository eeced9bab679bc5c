import type {
  V1Affinity,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PreferredSchedulingTerm,
} from '@kubernetes/client-node';
import type { Placement } from '../../../api/trafficwatch/spec/placement.ts';
import { labelValueOf } from './label.ts';
import { TEMPLATE_NODE_LABEL } from '../../../api/trafficwatch/label.ts';
import { isLabelKey } from '../../../api/trafficwatch/labelKey.ts';

/** The maximum weight of a preferred term (1 to 100), so that no single preferred term of the user outweighs it. */
const WEIGHT = 100;

/** The requirement that keeps pods off unfit nodes. Nodes without the label satisfy it too. */
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
 * Adds the requirement that a node is not unfit to the user's affinity.
 *
 * The scheduler ORs terms: with a separate term of ours, a pod could bypass the user's terms, or ours. The requirement
 * therefore goes into EVERY term that can match a node. An empty term matches no node and is left unchanged. If the
 * user has no terms, ours is the only term.
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

/** True if every term that can match a node has the requirement, so that no pod is scheduled to an unfit node. */
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
 * Adds a preference for nodes that are not unfit to the user's own preferences. The required terms are unchanged, so that
 * a kubelet that restarts on an unfit node does not reject its pods.
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

/** Adds a requirement or a preference to the user's affinity, depending on the placement. */
export function withFitNodes(affinity: V1Affinity | undefined, labelKey: string, placement: Placement): V1Affinity {
  return placement === 'Preferred' ? withFitNodesPreferred(affinity, labelKey) : withFitNodesOnly(affinity, labelKey);
}

/** True if this affinity has the requirement (Required) or the preference (Preferred) for the label key. */
export function schedulesBy(affinity: V1Affinity | undefined, labelKey: string, placement: Placement): boolean {
  if (placement === 'Required') return keepsOffUnfit(affinity, labelKey);
  const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.some((term) => isFitTerm(term, fitRequirement(labelKey)));
}

/**
 * The label keys by which every term of a pod that can match a node requires that the node is not unfit. With AtCreation,
 * one term has the key and its twin names the nodes that were unfit.
 */
export function requiredKeys(affinity: V1Affinity | undefined): string[] {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  // Users write terms and expressions, as many as a pod has room for: look at each once.
  const terms = required.filter(canMatchNode).map((term) => ({ keys: keysOf(term), isExcluding: excludesNames(term) }));
  const all = new Set(terms.flatMap(({ keys }) => [...keys]));
  const requiring = terms.filter(({ isExcluding }) => !isExcluding);
  // Count, since a test of each key against each term takes their product.
  const counts = countsOf(requiring.flatMap(({ keys }) => [...keys]));
  return [...all].filter((key) => (counts.get(key) ?? 0) === requiring.length);
}

/** The label keys by which a pod requires, or only prefers, that its node is not unfit. */
export function placementKeys(affinity: V1Affinity | undefined): string[] {
  const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferredKeys = preferred.flatMap(({ preference }) => [...keysOf(preference)]);
  return [...new Set([...requiredKeys(affinity), ...preferredKeys])];
}

function countsOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function excludesNames({ matchFields = [] }: V1NodeSelectorTerm): boolean {
  return matchFields.some(({ operator }) => operator === 'NotIn');
}

function canMatchNode(term: V1NodeSelectorTerm): boolean {
  const isSimulated = term.matchExpressions?.some(
    ({ key, operator }) => key === TEMPLATE_NODE_LABEL && operator === 'In',
  );
  return !isEmptyTerm(term) && isSimulated !== true;
}

function keysOf({ matchExpressions = [] }: V1NodeSelectorTerm): Set<string> {
  const unfit = labelValueOf('above');
  const found = matchExpressions.filter(
    ({ key, operator, values }) => operator === 'NotIn' && values?.includes(unfit) && isLabelKey(key),
  );
  return new Set(found.map(({ key }) => key));
}
