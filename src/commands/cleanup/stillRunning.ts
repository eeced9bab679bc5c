import type { V1Deployment, V1Node, V1Pod } from '@kubernetes/client-node';

/** What a pod has that asks for none (Kubernetes' own default): s. */
const DEFAULT_GRACE_SECONDS = 30;
/** A kubelet kills what is left after the grace period, and then needs a moment to write that the pod has ended. */
const REPORT_MS = 5_000;

/**
 * Whether a pod that is being deleted should have ended by now, if anybody ends it.
 *
 * @param terminatingForMs since when the pod was seen with a deletionTimestamp, by the clock of whoever looks: the
 *   timestamp itself is by the API server's clock, which may differ
 */
export function isOverdue({ metadata }: V1Pod, terminatingForMs: number): boolean {
  if (metadata?.deletionTimestamp === undefined) return false;
  const graceMs = (metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1_000;
  return terminatingForMs >= graceMs + REPORT_MS;
}

/**
 * Whether the clean-up must wait for a pod of the operator. The rows are asked in order:
 *
 * | pod | node | wait |
 * |---|---|---|
 * | phase Succeeded or Failed | any | no |
 * | not overdue | any | yes |
 * | overdue | Ready is True: its kubelet will end the pod | yes |
 * | overdue | Ready is not True, or the Node is gone | no |
 *
 * A pod on a dead node keeps its phase until the node is back. Not waiting for it is safe where the operator elects a
 * leader: it writes nothing without the Lease, and the clean-up takes the Lease before it writes.
 */
export function isStillRunning(pod: V1Pod, node: V1Node | undefined, terminatingForMs: number): boolean {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false;
  return !isOverdue(pod, terminatingForMs) || isReady(node);
}

function isReady(node: V1Node | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** Whether a Deployment's replicas write under a Lease alone: the last `--leader-elect` counts, as on any command line. */
export function electsLeader({ spec }: V1Deployment): boolean {
  const args = spec?.template.spec?.containers.flatMap((container) => container.args ?? []) ?? [];
  const flag = args.findLast((arg) => /^--?leader-elect(=|$)/.test(arg));
  return flag !== undefined && /^--?leader-elect(=true)?$/.test(flag);
}
