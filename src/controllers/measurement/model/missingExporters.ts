import { firstOf } from '../../../runtime/controller/conditions.ts';
import type { V1ContainerStatus, V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import type { Problem } from '../../../runtime/process/problem.ts';

/** How long an exporter may take to start, including image pull and first probe, before that is a problem: ms. */
export const STARTING_MS = 60_000;
/** Maximum number of nodes that a message names. It only counts the others. */
const NAMED_AT_MOST = 5;

/** The input for the decision about missing exporters. */
export interface ExportersObservation {
  readonly daemonSet: V1DaemonSet | undefined;
  /** Our pods in the exporter's namespace. Only needed while the DaemonSet lacks some. */
  readonly pods: readonly V1Pod[];
  /** Since when nodes lack a pod of the DaemonSet, ms since the epoch; undefined if none does. */
  readonly withoutPodSince: number | undefined;
  /** Nodes that cannot be measured, by name, such as a node that is powered off. */
  readonly notMeasurable: ReadonlyMap<string, unknown>;
  readonly port: number;
  /** ms since the epoch. */
  readonly now: number;
}

/** True if fewer exporters are ready than nodes should run one. */
export function lacksExporters({ status }: V1DaemonSet): boolean {
  return status !== undefined && status.numberReady < status.desiredNumberScheduled;
}

/** The number of nodes that should run an exporter but have no pod for it. */
export function nodesWithoutPod({ status }: V1DaemonSet): number {
  return status === undefined ? 0 : Math.max(0, status.desiredNumberScheduled - status.currentNumberScheduled);
}

/** The port of the exporters. */
export function portOf(daemonSet: V1DaemonSet | undefined): number | undefined {
  return daemonSet?.spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort;
}

/**
 * The problems of nodes whose exporter has not been ready for STARTING_MS:
 *
 * | pod of the node                            | message                                                       |
 * |--------------------------------------------|---------------------------------------------------------------|
 * | not scheduled, for lack of a free port     | the port is not free: another pod with hostNetwork or hostPort uses it |
 * | scheduled, its container keeps terminating | the exit code; perhaps a program outside of Kubernetes uses the port |
 * | not ready for another reason               | the reason that Kubernetes gives, such as ErrImagePull        |
 * | no pod                                     | only the number of nodes; events of the DaemonSet say why     |
 *
 * Only the first two messages say how to choose another port. Nodes that cannot be measured are not a problem, except that
 * they are counted if they have no pod. During a rollout of the DaemonSet, each node lacks a ready pod for less than
 * STARTING_MS.
 */
export function missingExporters(observation: ExportersObservation): Problem[] {
  const { daemonSet } = observation;
  if (daemonSet === undefined || !lacksExporters(daemonSet)) return [];
  return [...notCreated(daemonSet, observation), ...notReady(daemonSet, observation)];
}

/** If a quota, a Pod Security level or an admission policy rejects the pods, only events of the DaemonSet say so. */
function notCreated(daemonSet: V1DaemonSet, { withoutPodSince, now }: ExportersObservation): Problem[] {
  if (withoutPodSince === undefined || now - withoutPodSince < STARTING_MS) return [];
  const { name = '', namespace = '' } = daemonSet.metadata ?? {};
  const message = `no pod of node-exporter is created for ${nodesWithoutPod(daemonSet)} nodes: not measured; kubectl -n ${namespace} describe daemonset ${name} shows why, such as a quota or an admission policy`;
  return [{ reason: 'ExporterNotCreated', object: `DaemonSet ${namespace}/${name}`, message }];
}

function notReady(daemonSet: V1DaemonSet, observation: ExportersObservation): Problem[] {
  const { pods, notMeasurable, port, now } = observation;
  const missing = pods
    .filter((pod) => !notMeasurable.has(nodeOf(pod)))
    .filter((pod) => now - notReadySince(pod) >= STARTING_MS)
    .map((pod) => ({ node: nodeOf(pod), ...reasonOf(pod) }))
    .sort((a, b) => (a.node < b.node ? -1 : 1));
  if (missing.length === 0) return [];
  const { name = '', namespace = '' } = daemonSet.metadata ?? {};
  const object = `DaemonSet ${namespace}/${name}`;
  const names = missing.map(({ node, why }) => `${node} (${why})`);
  const hint = missing.some(({ isAboutPort }) => isAboutPort) ? portHint(port) : '';
  const message = `no node-exporter is ready on ${firstOf(names, NAMED_AT_MOST)}: not measured${hint}`;
  return [{ reason: 'ExporterNotReady', object, message }];
}

function portHint(port: number): string {
  return `; if another program on the node uses TCP port ${port}, choose a port that is free on all nodes: --node-exporter-port, nodeExporter.port in the chart`;
}

/** Since when the pod is not ready, ms since the epoch. Infinity for a pod that is ready or being deleted. */
function notReadySince({ metadata, status }: V1Pod): number {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True' || metadata?.deletionTimestamp !== undefined) return Infinity;
  return Math.max(timeOf(metadata?.creationTimestamp), timeOf(ready?.lastTransitionTime));
}

/** The node of a pod. A pod that is not scheduled has its node in the affinity that the DaemonSet controller set. */
function nodeOf({ metadata, spec }: V1Pod): string {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const fields = required?.nodeSelectorTerms.flatMap(({ matchFields = [] }) => matchFields) ?? [];
  const bound = fields.find(({ key }) => key === 'metadata.name')?.values?.[0];
  return spec?.nodeName ?? bound ?? `the node of pod ${metadata?.name ?? ''}`;
}

interface Why {
  why: string;
  isAboutPort: boolean;
}

function reasonOf({ spec, status }: V1Pod): Why {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (spec?.nodeName === undefined) {
    const noPort = (scheduled?.message ?? '').includes('free ports');
    return noPort
      ? { why: 'its port is not free there', isAboutPort: true }
      : { why: scheduled?.reason ?? 'not scheduled', isAboutPort: false };
  }
  const container = status?.containerStatuses?.[0];
  if (container !== undefined && keepsTerminating(container)) {
    return { why: `its container ends with code ${exitCodeOf(container)}`, isAboutPort: true };
  }
  return { why: container?.state?.waiting?.reason ?? status?.reason ?? 'not ready', isAboutPort: false };
}

function keepsTerminating({ state, restartCount }: V1ContainerStatus): boolean {
  return state?.waiting?.reason === 'CrashLoopBackOff' || (restartCount > 0 && state?.running === undefined);
}

function exitCodeOf({ state, lastState }: V1ContainerStatus): string {
  return String((state?.terminated ?? lastState?.terminated)?.exitCode ?? 'unknown');
}

function timeOf(time: Date | string | undefined): number {
  return time === undefined ? 0 : new Date(time).getTime();
}
