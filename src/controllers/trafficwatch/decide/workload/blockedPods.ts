import { createSelectorMatcher, requirementsOf } from '../../../../api/labelMatcher.ts';
import { NAMED_AT_MOST, type BlockedPods } from '../../../../api/trafficwatch/statusSchema.ts';
import { isStrict } from '../../../../api/trafficwatch/spec/placement.ts';
import type { Observation, WaitingPod } from '../../observe/observation.ts';
import { blockingKeys } from '../../model/labelKeys.ts';
import { workloadSelectorOf } from './podPlacement.ts';

/** How long a pod must be blocked for the condition NoFitNode: ms. A rollout or a scale-up may wait for seconds. */
export const LASTING_MS = 60_000;

/** The known facts about pods that find no node because nodes are unfit. */
export type BlockedDecision =
  /** The placement is Preferred: no pod can be blocked. */
  | { readonly kind: 'Never' }
  /** `pods` is undefined if there are none. `isLasting` if one of them has waited for LASTING_MS. */
  | { readonly kind: 'Known'; readonly pods: BlockedPods | undefined; readonly isLasting: boolean }
  /** Pods may not be watched, or are too large. `message` is what the API server said, or says what to do. */
  | { readonly kind: 'Unreadable'; readonly message: string }
  /** Not decided, or the pods are not read yet: the status is unchanged. */
  | { readonly kind: 'NotRead' };

/** 8 MiB: see BodyBudget. */
const TOO_LARGE = 'the waiting pods of this namespace take more than 8 MiB together; remove labels of these pods';

/**
 * Maximum of labels and expressions of a selector that waiting or rejected pods are compared with: twice the limit of
 * spec.podSelector. The selectors of a target and of spec.deployment have no limit, and a namespace may have 20,000 pods here.
 */
export const MOST_REQUIREMENTS = 100;
const TOO_LONG = `the pod selector of the workload has more than ${MOST_REQUIREMENTS} labels and expressions; use a shorter one`;

const NOBODY: BlockedDecision = { kind: 'Known', pods: undefined, isLasting: false };

/**
 * Which pods of the workload find no node since nodes are unfit.
 *
 * The observation has waiting pods if there are blocking keys:
 *
 * | placement | mode    | a node is labelled unfit | waiting pods | result                                   |
 * |-----------|---------|--------------------------|--------------|------------------------------------------|
 * | Preferred | any     | any                      | any          | Never                                    |
 * | other     | Observe | any                      | any          | none                                     |
 * | other     | Enforce | no                       | any          | none                                     |
 * | other     | Enforce | yes                      | not read yet | NotRead                                  |
 * | other     | Enforce | yes                      | may not be read | Unreadable                            |
 * | other     | Enforce | yes                      | read         | the pods of the table below              |
 * | other     | Enforce | yes                      | read, and the selector is too long | Unreadable         |
 * | other     | Enforce | yes                      | some are too large | the same if one is lasting, else Unreadable |
 *
 * | selected by the workload's selector | the scheduler found no node, and one did not match the affinity | requires our label key | blocked |
 * |-----|-----|-----|-----|
 * | no  | any | any | no |
 * | yes | no: it has not tried yet, only resources are missing, or the pod is gated | any | no |
 * | yes | yes | no: created before the TrafficWatch | no |
 * | yes | yes | yes | yes |
 *
 * What is not checked: whether an unfit node has room for the pod, since the scheduler does not look at the resources of
 * a node that the affinity excludes; and, of a pod that has a node selector or required terms of its own, whether they
 * allow an unfit node.
 */
export function decideBlockedPods(o: Observation): BlockedDecision {
  if (!isStrict(o.watch.spec)) return { kind: 'Never' };
  // Only read if there are blocking keys. Do not look for them again: that looks at every node.
  if (o.waitingPods === undefined) return NOBODY;
  const { refusal, pods, isPartial = false } = o.waitingPods;
  if (refusal !== undefined) return { kind: 'Unreadable', message: refusal };
  if (pods === undefined) return { kind: 'NotRead' };
  const decision = among(pods, blockingKeys(o), o);
  // One of the others may be blocked for longer.
  const isCertain = !isPartial || (decision.kind === 'Known' && decision.isLasting);
  return isCertain ? decision : { kind: 'Unreadable', message: TOO_LARGE };
}

function among(pods: readonly WaitingPod[], keys: readonly string[], o: Observation): BlockedDecision {
  const selector = workloadSelectorOf(o);
  if (selector === undefined) return NOBODY;
  if (requirementsOf(selector) > MOST_REQUIREMENTS) return { kind: 'Unreadable', message: TOO_LONG };
  // One for all pods: users choose the number of pods and of values.
  const matches = createSelectorMatcher(selector);
  const blocked = pods.filter((pod) => pod.keys.some((key) => keys.includes(key)) && matches(pod.labels));
  if (blocked.length === 0) return NOBODY;
  const names = blocked.map(({ name }) => name).sort();
  return {
    kind: 'Known',
    pods: { count: names.length, names: names.slice(0, NAMED_AT_MOST) },
    isLasting: blocked.some(({ since }) => o.now - since >= LASTING_MS),
  };
}
