import type { V1Node, V1ObjectMeta } from '@kubernetes/client-node';
import { virtualMark } from './virtualNodes.ts';

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
/** The node is left out on purpose. Also where a TrafficStack has the settings. */
export const LEFT_OUT = reasonOf(
  'NotMeasurable',
  'node-exporter does not run there: its nodeSelector or affinity leaves the node out (nodeExporter.nodeSelector, nodeExporter.affinity)',
);
const NOT_READY = reasonOf('NodeNotReady', 'the Node is not Ready: it may be powered off; its label is unchanged');

/** By mark, so that nodes share the objects. */
const VIRTUAL = new Map<string, NotMeasurable>();

function virtual(mark: string): NotMeasurable {
  const why =
    VIRTUAL.get(mark) ??
    reasonOf('NotMeasurable', `a virtual node, as ${mark} shows: there is no host whose network could be measured`);
  VIRTUAL.set(mark, why);
  return why;
}

/**
 * How long a Node must be not Ready before this explains its missing figures: ms. Less than the minute after which its
 * missing exporter is reported as a problem. The node controller takes 40 to 50 s before it sets a dead Node not Ready.
 */
const NOT_READY_MS = 45_000;

/** Why a Node cannot be measured according to its labels and annotations; undefined if they do not say so. */
export function whyNeverMeasured(metadata: V1ObjectMeta | undefined): NotMeasurable | undefined {
  return whyNever({ metadata });
}

function whyNever(node: Pick<V1Node, 'metadata' | 'spec'>): NotMeasurable | undefined {
  const mark = virtualMark(node);
  if (mark !== undefined) return virtual(mark);
  const system = node.metadata?.labels?.['kubernetes.io/os'];
  return system === undefined || system === 'linux' ? undefined : OTHER_SYSTEM;
}

/** The parts of a whole Node that say whether it can be measured. */
export interface NodeState {
  readonly neverMeasured?: NotMeasurable | undefined;
  /** Since when the Node is not Ready, ms since the epoch; undefined if it is Ready or has no such condition. */
  readonly notReadySince?: number | undefined;
}

/** Reads the NodeState of a whole Node. */
export function stateOf(node: V1Node): NodeState {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const isNotReady = ready !== undefined && ready.status !== 'True';
  return {
    neverMeasured: whyNever(node),
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
