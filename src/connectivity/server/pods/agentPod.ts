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
  /** Gone: it ended, is being deleted, or its container does not run although it did. */
  readonly phase: 'Waiting' | 'Running' | 'Gone';
  /** Start of its container, or of the pod as long as it has none. Wall clock, ms. */
  readonly startedAt: number;
  /**
   * Running, and not being deleted. The original server also expected reports of pods that wait for a node or for an
   * image, and of pods that had ended.
   */
  readonly mustReport: boolean;
  /** Its ServiceAccount may report. Whoever may create pods can give one the label of an agent. */
  readonly isListed: boolean;
}

/**
 * Reads a pod of an agent:
 *
 * | pod | phase |
 * |---|---|
 * | being deleted | Gone |
 * | Pending | Waiting |
 * | Running, and all containers run, or nothing is said of them | Running |
 * | Running, and a container does not run | Gone |
 * | else: Succeeded, Failed, Unknown | Gone |
 *
 * @param accounts ServiceAccounts whose pods may report, as NAMESPACE/NAME; empty: all
 */
export function toAgentPod({ metadata = {}, spec, status }: V1Pod, accounts: readonly string[] = []): AgentPod {
  const { name = '', namespace = '', uid = '', resourceVersion = '', labels, deletionTimestamp } = metadata;
  const isHost = spec?.hostNetwork === true || labels?.app === HOST_AGENT_NAME;
  const isListed = accounts.length === 0 || accounts.includes(`${namespace}/${spec?.serviceAccountName ?? 'default'}`);
  const addresses = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP === undefined ? [] : [status.podIP]);
  return {
    metadata: { name, namespace, uid, resourceVersion },
    name,
    node: spec?.nodeName ?? '',
    plane: isHost ? 'Host' : 'Pod',
    addresses,
    phase: phaseOf({ metadata, status }),
    startedAt: startOf({ metadata, status }),
    mustReport: isListed && status?.phase === 'Running' && deletionTimestamp === undefined,
    isListed,
  };
}

type PodState = Pick<V1Pod, 'metadata' | 'status'>;

function phaseOf({ metadata, status }: PodState): AgentPod['phase'] {
  if (metadata?.deletionTimestamp !== undefined) return 'Gone';
  if (status?.phase === 'Pending') return 'Waiting';
  const runs = status?.containerStatuses?.every(({ state }) => state?.running !== undefined) ?? true;
  return status?.phase === 'Running' && runs ? 'Running' : 'Gone';
}

/** The latest start of a container. */
function startOf({ metadata, status }: PodState): number {
  const starts = (status?.containerStatuses ?? []).map(({ state }) => state?.running?.startedAt);
  const times = [metadata?.creationTimestamp, ...starts].map((time) => (time ? new Date(time).getTime() : 0));
  return Math.max(...times.filter((time) => !Number.isNaN(time)), 0);
}

/**
 * Chooses one pod for each place. The first row in which two pods differ decides:
 *
 * | pod | preferred |
 * |---|---|
 * | phase | Running, then Waiting, then Gone |
 * | has a current report with a token | yes: a pod that only has the label of an agent takes no place |
 * | start, if both have such a report | the earlier: the one that has the place keeps it |
 * | start, if none has | the later: it replaces the other one |
 */
export function preferred(one: AgentPod, other: AgentPod, reports: (pod: AgentPod) => boolean): AgentPod {
  const rank = ({ phase }: AgentPod): number => PREFERENCE.indexOf(phase);
  if (rank(one) !== rank(other)) return rank(one) < rank(other) ? one : other;
  const oneReports = reports(one);
  if (oneReports !== reports(other)) return oneReports ? one : other;
  return one.startedAt < other.startedAt === oneReports ? one : other;
}

const PREFERENCE: readonly AgentPod['phase'][] = ['Running', 'Waiting', 'Gone'];
