import type { V1Deployment, V1Node, V1Pod } from '@kubernetes/client-node';

/** Default grace period of a pod in Kubernetes, seconds. */
const DEFAULT_GRACE_SECONDS = 30;
/** Time for the kubelet to report that it killed the pod after the grace period. */
const REPORT_MS = 5_000;

/**
 * True if a pod that is being deleted should have ended by now. Then its kubelet probably does not work.
 *
 * @param terminatingForMs time since the caller first saw the deletionTimestamp, by the caller's clock. The timestamp
 *   itself uses the API server's clock, which may differ
 */
export function isOverdue({ metadata }: V1Pod, terminatingForMs: number): boolean {
  if (metadata?.deletionTimestamp === undefined) return false;
  const graceMs = (metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000;
  return terminatingForMs >= graceMs + REPORT_MS;
}

/**
 * True if the clean-up must wait for a pod of the operator. The first row that applies decides:
 *
 * | pod | node | wait |
 * |---|---|---|
 * | phase Succeeded or Failed | any | no |
 * | not overdue | any | yes |
 * | overdue | Ready is True: its kubelet will end the pod | yes |
 * | overdue | Ready is not True, or the Node is gone | no |
 *
 * A pod on a dead node keeps its phase until the node is back. If the operator elects a leader, it is safe not to wait
 * for that pod: it cannot write without the Lease, and the clean-up takes the Lease before it writes.
 */
export function isStillRunning(pod: V1Pod, node: V1Node | undefined, terminatingForMs: number): boolean {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false;
  return !isOverdue(pod, terminatingForMs) || isReady(node);
}

function isReady(node: V1Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** True if the replicas of a Deployment write only while they hold the Lease. The last `--leader-elect` counts. */
export function electsLeader({ spec }: V1Deployment): boolean {
  const args = spec?.template.spec?.containers.flatMap((container) => container.args ?? []) ?? [];
  const flag = args.findLast((arg) => /^--?leader-elect(=|$)/.test(arg));
  return flag !== undefined && /^--?leader-elect(=true)?$/.test(flag);
}
