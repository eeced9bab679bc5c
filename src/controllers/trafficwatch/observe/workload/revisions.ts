import type { LabelSelector, LabelSelectorRequirement } from '../../../../api/labelSelector.ts';

/**
 * Labels whose value is the hash of a pod template: of Argo Rollouts, of Deployments, and of StatefulSets and DaemonSets.
 * With the strategy blueGreen, the scale of a Rollout has the selector of the active ReplicaSet
 * (https://github.com/argoproj/argo-rollouts/blob/007746dd813136e8a334fdc1fdff46096c257137/rollout/bluegreen.go).
 */
const REVISION_LABELS: ReadonlySet<string> = new Set([
  'rollouts-pod-template-hash',
  'pod-template-hash',
  'controller-revision-hash',
]);

/**
 * The selector of a scale without requirements on the revision, since pods of the next revision need the affinity as well.
 *
 * | requirements            | the others                            | result          |
 * |-------------------------|---------------------------------------|-----------------|
 * | none on the revision    | any                                   | unchanged       |
 * | some on the revision    | one that asks for a label or its value | the others     |
 * | some on the revision    | none, or only labels that pods must not have | 'only a revision': they would select pods of other workloads |
 */
export function withoutRevisions(selector: LabelSelector): LabelSelector | 'only a revision' {
  const { matchExpressions: all = [] } = selector;
  const others = all.filter(({ key }) => !REVISION_LABELS.has(key));
  if (others.length === all.length) return selector;
  return others.some(asksForLabel) ? { ...selector, matchExpressions: others } : 'only a revision';
}

function asksForLabel({ operator }: LabelSelectorRequirement): boolean {
  return operator === 'In' || operator === 'Exists';
}
