import type { V1ContainerStatus, V1Pod, V1PodSpec, V1PodStatus } from '@kubernetes/client-node';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { HOST_AGENT_NAME, PEER_PORT, PEER_PORT_NAME } from '../../objects/names.ts';

/** The data that the server keeps of the pod of an agent: a few hundred bytes. */
export interface AgentPod extends KubeObject {
  readonly name: string;
  /** Empty while it waits for one. */
  readonly node: string;
  /** The node that it runs on, or that its DaemonSet made it for. */
  readonly place: string;
  readonly plane: Plane;
  /** The addresses of all families. */
  readonly addresses: readonly string[];
  /** The port on which it answers peers, as the pod states it: see `peerPortOf`. Absent: only its report has the port. */
  readonly peerPort?: number;
  /** Stopped: it should run, and a container ended, or it was evicted. Gone: it ended, or is being deleted. */
  readonly phase: 'Waiting' | 'Running' | 'Stopped' | 'Gone';
  /** Time of its creation by the clock of an API server, ms: see `Ages`. */
  readonly createdAt: number;
  /** Start of its container, by the clock of its node, or of the pod as long as it has none. Ms. */
  readonly startedAt: number;
  /** Duration of the run before the last restart, ms; absent without one. */
  readonly lastRunMs?: number;
  /** Why it does not run, or why it was restarted, such as `CrashLoopBackOff, exit code 1`. */
  readonly problem?: string;
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
 * | Running, and a container does not run | Stopped |
 * | Failed: evicted, or rejected by the kubelet; its DaemonSet replaces it | Stopped |
 * | else: Succeeded, Unknown | Gone |
 *
 * @param accounts ServiceAccounts whose pods may report, as NAMESPACE/NAME; empty: all
 */
export function toAgentPod(pod: V1Pod, accounts: readonly string[] = []): AgentPod {
  const { metadata = {}, spec, status } = pod;
  const { name = '', namespace = '', uid = '', resourceVersion = '', labels, deletionTimestamp } = metadata;
  const isHost = spec?.hostNetwork === true || labels?.app === HOST_AGENT_NAME;
  const isListed = accounts.length === 0 || accounts.includes(`${namespace}/${spec?.serviceAccountName ?? 'default'}`);
  const addresses = status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP === undefined ? [] : [status.podIP]);
  const node = spec?.nodeName ?? '';
  const problem = podProblem(status);
  const lastRunMs = lastRunOf(status);
  const peerPort = peerPortOf(spec);
  return {
    metadata: { name, namespace, uid, resourceVersion },
    name,
    node,
    place: node === '' ? targetOf(spec) : node,
    plane: isHost ? 'Host' : 'Pod',
    addresses,
    ...(peerPort !== undefined && { peerPort }),
    phase: phaseOf({ metadata, status }),
    createdAt: timeOf(metadata.creationTimestamp),
    startedAt: startOf({ metadata, status }),
    ...(lastRunMs !== undefined && { lastRunMs }),
    ...(problem !== undefined && { problem }),
    mustReport: isListed && status?.phase === 'Running' && deletionTimestamp === undefined,
    isListed,
  };
}

/** Whether an agent runs, and has an address. */
export function isAgentAt(pod: AgentPod | undefined, address: string): boolean {
  return pod?.phase === 'Running' && pod.addresses.includes(address);
}

type PodState = Pick<V1Pod, 'metadata' | 'status'>;

function phaseOf({ metadata, status }: PodState): AgentPod['phase'] {
  if (metadata?.deletionTimestamp !== undefined) return 'Gone';
  if (status?.phase === 'Pending') return 'Waiting';
  if (status?.phase === 'Failed') return 'Stopped';
  if (status?.phase !== 'Running') return 'Gone';
  return status.containerStatuses?.every(({ state }) => state?.running !== undefined) === false ? 'Stopped' : 'Running';
}

/** The latest start of a container. The clock of a node may be behind, so that it is before the creation of the pod. */
function startOf({ metadata, status }: PodState): number {
  const starts = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.running?.startedAt ?? []);
  return Math.max(...(starts.length > 0 ? starts : [metadata?.creationTimestamp]).map(timeOf));
}

/** Returns how long the container that ended last had run, ms. Undefined without one, or if the clock of its node went back. */
function lastRunOf(status: V1PodStatus | undefined): number | undefined {
  const ends = (status?.containerStatuses ?? []).flatMap(({ lastState }) => lastState?.terminated ?? []);
  const [last] = ends.sort((a, b) => timeOf(b.finishedAt) - timeOf(a.finishedAt));
  const ranMs = last && timeOf(last.finishedAt) - timeOf(last.startedAt);
  return ranMs !== undefined && ranMs >= 0 ? ranMs : undefined;
}

/** Returns the node of a pod of a DaemonSet, which names the node before the scheduler does; '' for other pods. */
function targetOf(spec: V1PodSpec | undefined): string {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  return fields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values?.[0] ?? '';
}

/** Returns a time in ms; 0 if it is absent or invalid. The API server sends texts; client-node's type says Date. */
function timeOf(time: Date | string | undefined): number {
  const ms = time === undefined ? 0 : new Date(time).getTime();
  return Number.isNaN(ms) ? 0 : ms;
}

/**
 * Chooses one pod for each place. The first row in which two pods differ decides:
 *
 * | pod | preferred |
 * |---|---|
 * | phase | Running, then Stopped, Waiting, Gone |
 * | has a current report with a token | yes: a pod that only has the label of an agent takes no place |
 * | start, if both have such a report | the earlier: the one that has the place keeps it |
 * | start, if none has | the later: it replaces the other |
 */
export function preferred(one: AgentPod, other: AgentPod, reports: (pod: AgentPod) => boolean): AgentPod {
  const rank = ({ phase }: AgentPod): number => PREFERENCE.indexOf(phase);
  if (rank(one) !== rank(other)) return rank(one) < rank(other) ? one : other;
  const oneReports = reports(one);
  if (oneReports !== reports(other)) return oneReports ? one : other;
  return one.startedAt < other.startedAt === oneReports ? one : other;
}

const PREFERENCE: readonly AgentPod['phase'][] = ['Running', 'Stopped', 'Waiting', 'Gone'];

/** The flag of `connectivity-agent`, with one dash or two; the value comes after `=`, or as the next argument. */
const FLAG = /^--?peer-port(?:=(.*))?$/;
/** The same as an environment variable. The flag takes precedence. */
const VARIABLE = 'TRAFFIC_OPERATOR_PEER_PORT';

/**
 * The port on which the agent of a pod answers peers, as the pod states it. The first row that applies counts:
 *
 * | containers of the pod | port |
 * |---|---|
 * | the flag --peer-port in command or args; the last one counts | its value |
 * | the variable TRAFFIC_OPERATOR_PEER_PORT | its value |
 * | a TCP port with the name `peer` | that port |
 * | flag or variable whose value is only known in the pod, such as `$(PORT)` | undefined |
 * | else | 8082, the default of the flag |
 *
 * A variable of a ConfigMap (`envFrom`) is not seen here. The port that an agent reports takes precedence over this one.
 */
export function peerPortOf(spec: Pick<V1PodSpec, 'containers'> | undefined): number | undefined {
  const containers = spec?.containers ?? [];
  const args = containers.flatMap(({ command = [], args: own = [] }) => [...command, ...own]);
  const variable = containers.flatMap(({ env = [] }) => env).find(({ name }) => name === VARIABLE);
  const stated = flagValue(args) ?? (variable === undefined ? undefined : (variable.value ?? ''));
  const port = stated === undefined ? undefined : portOf(stated);
  const named = containers
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, protocol = 'TCP' }) => name === PEER_PORT_NAME && protocol === 'TCP');
  return port ?? named?.containerPort ?? (stated === undefined ? PEER_PORT : undefined);
}

/** Returns the value of the flag; '' if it has none. Undefined without the flag. */
function flagValue(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => FLAG.test(arg));
  if (at === -1) return undefined;
  return FLAG.exec(args[at] ?? '')?.[1] ?? args[at + 1] ?? '';
}

function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** Reasons of a container that is about to start. */
const NORMAL = ['ContainerCreating', 'PodInitializing'];
/** The message of the scheduler may have a part for each kind of node. */
const LONGEST_MESSAGE = 200;

/**
 * Reads why a pod does not run. The first row that applies counts:
 *
 * | pod | problem |
 * |---|---|
 * | Failed | its reason, such as Evicted |
 * | a container waits for another reason than that it is being created | the reason, such as ImagePullBackOff |
 * | a container has ended | the reason, such as OOMKilled |
 * | a container runs again | why it ended before |
 * | not scheduled | Unschedulable, and the message of the scheduler |
 * | else | undefined |
 *
 * Reasons of containers come with the exit code of their last run.
 */
export function podProblem(status: V1PodStatus = {}): string | undefined {
  if (status.phase === 'Failed') return status.reason ?? 'Failed';
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  // An init container that has done its work has ended with 0.
  const inits = initContainerStatuses.filter(({ state }) => state?.terminated?.exitCode !== 0);
  const problems = [...inits, ...containerStatuses].flatMap((container) => containerProblem(container) ?? []);
  return problems[0] ?? unscheduled(status);
}

function containerProblem({ state, lastState }: V1ContainerStatus): string | undefined {
  const waits = state?.waiting?.reason;
  const ended = state?.terminated ?? lastState?.terminated;
  if (waits !== undefined && !NORMAL.includes(waits)) return withCode(waits, ended);
  return ended && withCode(ended.reason ?? 'Error', ended);
}

function withCode(reason: string, ended: { readonly exitCode: number } | undefined): string {
  return ended === undefined ? reason : `${reason}, exit code ${ended.exitCode}`;
}

function unscheduled({ conditions = [] }: V1PodStatus): string | undefined {
  const condition = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (condition === undefined) return undefined;
  const { reason = 'Unschedulable', message = '' } = condition;
  const shown = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
  return shown === '' ? reason : `${reason}: ${shown}`;
}
