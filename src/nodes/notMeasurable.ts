import type { V1Node } from '@kubernetes/client-node';

/** Why a node cannot be measured. This is a property of the node, not a problem of the measurement. */
export interface NotMeasurable {
  readonly reason: 'NotMeasurable' | 'NodeNotReady';
  readonly message: string;
}

/** True if the reason of a verdict means that the node cannot be measured. */
export function isNotMeasurable(reason: string): boolean {
  return reason === 'NotMeasurable' || reason === 'NodeNotReady';
}

const reasonOf = (reason: NotMeasurable['reason'], message: string): NotMeasurable =>
  Object.freeze({ reason, message });

const OTHER_SYSTEM = reasonOf(
  'NotMeasurable',
  'its label kubernetes.io/os is not linux: node-exporter runs on Linux only',
);
const VIRTUAL_KUBELET = reasonOf(
  'NotMeasurable',
  'a virtual kubelet: there is no host whose network could be measured',
);
const NOT_READY = reasonOf('NodeNotReady', 'the Node is not Ready: it may be powered off; its label stays as it is');

/** The key of the taint that virtual kubelets put on their Node: https://virtual-kubelet.io/docs/setup/ */
const VIRTUAL_KUBELET_TAINT = 'virtual-kubelet.io/provider';

/**
 * How long a Node must be not Ready before this explains its missing figures: ms. Less than the minute after which its
 * missing exporter is reported as a problem. The node controller takes 40 to 50 s before it sets a dead Node not Ready.
 */
const NOT_READY_MS = 45_000;

/** Why a Node cannot be measured according to its labels; undefined if they do not say so. */
export function whyNeverMeasured(labels: Readonly<Record<string, string>> = {}): NotMeasurable | undefined {
  const system = labels['kubernetes.io/os'];
  if (labels.type === 'virtual-kubelet') return VIRTUAL_KUBELET;
  return system === undefined || system === 'linux' ? undefined : OTHER_SYSTEM;
}

/** The parts of a whole Node that say whether it can be measured. */
export interface NodeState {
  readonly neverMeasured?: NotMeasurable | undefined;
  /** Since when the Node is not Ready, ms since the epoch; undefined if it is Ready or has no such condition. */
  readonly notReadySince?: number | undefined;
}

/** Reads the NodeState of a whole Node. */
export function stateOf({ metadata, spec, status }: V1Node): NodeState {
  const isVirtual = (spec?.taints ?? []).some(({ key }) => key === VIRTUAL_KUBELET_TAINT);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isNotReady = ready !== undefined && ready.status !== 'True';
  return {
    neverMeasured: isVirtual ? VIRTUAL_KUBELET : whyNeverMeasured(metadata?.labels),
    notReadySince: isNotReady ? new Date(ready.lastTransitionTime ?? 0).getTime() : undefined,
  };
}

/**
 * Why a node in this state cannot be measured; undefined if it should have figures.
 * @param now ms since the epoch
 */
export function whyNotMeasurable({ neverMeasured, notReadySince }: NodeState, now: number): NotMeasurable | undefined {
  if (neverMeasured !== undefined) return neverMeasured;
  return notReadySince !== undefined && now - notReadySince >= NOT_READY_MS ? NOT_READY : undefined;
}
