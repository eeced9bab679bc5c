import type { V1Pod } from '@kubernetes/client-node';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { HOST_AGENT_NAME } from '../../objects/names.ts';

/** What the server keeps of the pod of an agent: a few hundred bytes. */
export interface AgentPod extends KubeObject {
  readonly name: string;
  /** Empty while it waits for one. */
  readonly node: string;
  readonly plane: Plane;
  /** Of all families. */
  readonly addresses: readonly string[];
  /** Stopped: its container ended, and the kubelet starts it again. Gone: it ended, or is being deleted. */
  readonly phase: 'Waiting' | 'Running' | 'Stopped' | 'Gone';
  /** Start of its container, or of the pod as long as it has none. Wall clock, ms. */
  readonly startedAt: number;
  /**
   * Running, and not being deleted. The original server also expected reports of pods that wait for a node or for an
   * image, and of pods that had ended.
   */
  readonly mustReport: boolean;
}

/**
 * Reads a pod of an agent:
 *
 * | pod | phase |
 * |---|---|
 * | being deleted | Gone |
 * | Pending | Waiting |
 * | Running, and all containers run, or nothing is said of them | Running |
 * | Running, and a container does not run | Stopped |
 * | else: Succeeded, Failed, Unknown | Gone |
 */
export function toAgentPod({ metadata = {}, spec, status }: V1Pod): AgentPod {
  const { name = '', namespace = '', uid = '', resourceVersion = '', labels, deletionTimestamp } = metadata;
  const isHost = spec?.hostNetwork === true || labels?.app === HOST_AGENT_NAME;
  const addresses = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP === undefined ? [] : [status.podIP]);
  return {
    metadata: { name, namespace, uid, resourceVersion },
    name,
    node: spec?.nodeName ?? '',
    plane: isHost ? 'Host' : 'Pod',
    addresses,
    phase: phaseOf({ metadata, status }),
    startedAt: startOf({ metadata, status }),
    mustReport: status?.phase === 'Running' && deletionTimestamp === undefined,
  };
}

type PodState = Pick<V1Pod, 'metadata' | 'status'>;

function phaseOf({ metadata, status }: PodState): AgentPod['phase'] {
  if (metadata?.deletionTimestamp !== undefined) return 'Gone';
  if (status?.phase === 'Pending') return 'Waiting';
  if (status?.phase !== 'Running') return 'Gone';
  const runs = status.containerStatuses?.every(({ state }) => state?.running !== undefined) ?? true;
  return runs ? 'Running' : 'Stopped';
}

/** The latest start of a container. */
function startOf({ metadata, status }: PodState): number {
  const starts = (status?.containerStatuses ?? []).map(({ state }) => state?.running?.startedAt);
  const times = [metadata?.creationTimestamp, ...starts].map((time) => (time ? new Date(time).getTime() : 0));
  return Math.max(...times.filter((time) => !Number.isNaN(time)), 0);
}

/** One pod for each place: the one that runs, then one that will run, then the latest. */
export function preferred(one: AgentPod, other: AgentPod): AgentPod {
  const rank = ({ phase }: AgentPod): number => ['Running', 'Waiting', 'Stopped', 'Gone'].indexOf(phase);
  if (rank(one) !== rank(other)) return rank(one) < rank(other) ? one : other;
  return one.startedAt >= other.startedAt ? one : other;
}
