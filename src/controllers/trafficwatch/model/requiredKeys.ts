import type { V1Affinity, V1NodeSelectorTerm } from '@kubernetes/client-node';
import { isLabelKey } from '../../../api/trafficwatch/labelKey.ts';
import { labelValueOf } from './label.ts';

/** The label of cluster-autoscaler's simulated nodes. A term with it matches no node that exists: docs/autoscalers.md. */
const TEMPLATE_NODE = 'cluster-autoscaler.kubernetes.io/template-node';

/**
 * The label keys by which every term of a pod that can match a node requires that the node is not unfit. With AtCreation,
 * one term has the key and its twin names the nodes that were unfit.
 */
export function requiredKeys(affinity: V1Affinity | undefined): string[] {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  // Users write terms and expressions, as many as a pod has room for: look at each once.
  const terms = required.filter(canMatchNode).map((term) => ({ keys: keysOf(term), isExcluding: excludesNames(term) }));
  const all = new Set(terms.flatMap(({ keys }) => [...keys]));
  return [...all].filter((key) => terms.every(({ keys, isExcluding }) => isExcluding || keys.has(key)));
}

function excludesNames({ matchFields = [] }: V1NodeSelectorTerm): boolean {
  return matchFields.some(({ operator }) => operator === 'NotIn');
}

/** A term without expressions and fields matches no node: https://kubernetes.io/docs/reference/kubernetes-api/. */
function canMatchNode({ matchExpressions = [], matchFields = [] }: V1NodeSelectorTerm): boolean {
  const isEmpty = matchExpressions.length + matchFields.length === 0;
  return !isEmpty && !matchExpressions.some(({ key, operator }) => key === TEMPLATE_NODE && operator === 'In');
}

function keysOf({ matchExpressions = [] }: V1NodeSelectorTerm): Set<string> {
  const unfit = labelValueOf('above');
  const found = matchExpressions.filter(
    ({ key, operator, values }) => operator === 'NotIn' && values?.includes(unfit) && isLabelKey(key),
  );
  return new Set(found.map(({ key }) => key));
}
