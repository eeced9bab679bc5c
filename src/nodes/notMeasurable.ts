import type { V1Node } from '@kubernetes/client-node';

/** Why there can be no figures of a node; no fault of what measures. */
export interface NotMeasurable {
  readonly reason: 'NotMeasurable' | 'NodeNotReady';
  readonly message: string;
}

/** True for the reason of a verdict on such a node. */
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
const NOT_READY = reasonOf('NodeNotReady', 'the Node is not Ready: it may be switched off; its label stays as it is');

/** The key of the taint that virtual kubelets put on their Node: https://virtual-kubelet.io/docs/setup/ */
const VIRTUAL_KUBELET_TAINT = 'virtual-kubelet.io/provider';

/**
 * How long a Node has to be not Ready before that explains why it has no figures: ms. Less than the minute after which
 * its exporter's pod would be told of as a problem; the node controller takes 40 to 50 s more to notice.
 */
const NOT_READY_MS = 45_000;

/** By the labels of a Node; undefined for one that can be measured as far as they tell. */
export function whyNeverMeasured(labels: Readonly<Record<string, string>> = {}): NotMeasurable | undefined {
  const system = labels['kubernetes.io/os'];
  if (labels.type === 'virtual-kubelet') return VIRTUAL_KUBELET;
  return system === undefined || system === 'linux' ? undefined : OTHER_SYSTEM;
}

/** What a look at a whole Node told. */
export interface NodeState {
  readonly neverMeasured?: NotMeasurable | undefined;
  /** When it ceased to be Ready, ms since the epoch; undefined while it is Ready, or says nothing of it. */
  readonly notReadySince?: number | undefined;
}

/** Reads what matters here from a whole Node. */
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
 * Why a node in this state has no figures; undefined where it should have some.
 * @param now ms since the epoch
 */
export function whyNotMeasurable({ neverMeasured, notReadySince }: NodeState, now: number): NotMeasurable | undefined {
  if (neverMeasured !== undefined) return neverMeasured;
  return notReadySince !== undefined && now - notReadySince >= NOT_READY_MS ? NOT_READY : undefined;
}
