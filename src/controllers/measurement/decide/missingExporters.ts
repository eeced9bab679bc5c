import type { V1ContainerStatus, V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import type { Problem } from '../../../runtime/process/problem.ts';

/** How long an exporter may take to start, its image pulled and its first probe answered, before that is a problem. */
export const STARTING_MS = 60_000;
/** How many nodes a message names; beyond, it only counts. */
const NAMED_AT_MOST = 5;

/** Everything that a decision about exporters that do not run may look at. */
export interface ExportersObservation {
  readonly daemonSet: V1DaemonSet | undefined;
  /** The pods of the exporter's namespace that are ours; only of interest while the DaemonSet says that some lack. */
  readonly pods: readonly V1Pod[];
  /** Since when nodes lack a pod of the DaemonSet, ms since the epoch; undefined while none does. */
  readonly withoutPodSince: number | undefined;
  /** Nodes that cannot be measured, by name, such as one that is switched off. */
  readonly notMeasurable: ReadonlyMap<string, unknown>;
  readonly port: number;
  /** ms since the epoch. */
  readonly now: number;
}

/** True while nodes that should run an exporter run none that is ready. */
export function lacksExporters({ status }: V1DaemonSet): boolean {
  return status !== undefined && status.numberReady < status.desiredNumberScheduled;
}

/** How many nodes should run an exporter, and have no pod for it. */
export function nodesWithoutPod({ status }: V1DaemonSet): number {
  return status === undefined ? 0 : Math.max(0, status.desiredNumberScheduled - status.currentNumberScheduled);
}

/**
 * Names the nodes whose exporter has not been ready for a minute, each with why:
 *
 * | pod                                           | why                                                      |
 * |-----------------------------------------------|----------------------------------------------------------|
 * | not scheduled, for lack of a free port        | another pod with hostNetwork or hostPort has it          |
 * | scheduled, its container ends again and again | perhaps a program outside of Kubernetes has it           |
 * | anything else                                 | the reason that Kubernetes gives, such as ErrImagePull   |
 *
 * | none at all, since a minute                  | only counted; events of the DaemonSet say why            |
 *
 * What becomes of the pod on a node that cannot be measured is no problem. Only the first two are told of the port and how to choose another one. A DaemonSet that is being rolled out lacks
 * some for less than a minute each.
 */
export function missingExporters(observation: ExportersObservation): Problem[] {
  const { daemonSet } = observation;
  if (daemonSet === undefined || !lacksExporters(daemonSet)) return [];
  return [...notCreated(daemonSet, observation), ...notReady(daemonSet, observation)];
}

/** A quota, a Pod Security level or an admission policy that takes no such pod is told in events of the DaemonSet alone. */
function notCreated(daemonSet: V1DaemonSet, { withoutPodSince, now }: ExportersObservation): Problem[] {
  if (withoutPodSince === undefined || now - withoutPodSince < STARTING_MS) return [];
  const { name = '', namespace = '' } = daemonSet.metadata ?? {};
  const message = `no pod of node-exporter is made for ${nodesWithoutPod(daemonSet)} nodes: not measured; kubectl -n ${namespace} describe daemonset ${name} says why, such as a quota or an admission policy`;
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
  const named = missing.slice(0, NAMED_AT_MOST).map(({ node, why }) => `${node} (${why})`);
  const more = missing.length > NAMED_AT_MOST ? ` and ${missing.length - NAMED_AT_MOST} more` : '';
  const hint = missing.some(({ isAboutPort }) => isAboutPort) ? portHint(port) : '';
  const message = `no node-exporter is ready on ${named.join(', ')}${more}: not measured${hint}`;
  return [{ reason: 'ExporterNotReady', object, message }];
}

function portHint(port: number): string {
  return `; where something else on the node has TCP port ${port}, choose one that is free on all nodes: --node-exporter-port, nodeExporter.port in the chart`;
}

/** ms since the epoch; Infinity for a pod that is ready, or is about to go. */
function notReadySince({ metadata, status }: V1Pod): number {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True' || metadata?.deletionTimestamp !== undefined) return Infinity;
  return Math.max(timeOf(metadata?.creationTimestamp), timeOf(ready?.lastTransitionTime));
}

/** One that is not scheduled is bound to its node by the affinity that the DaemonSet controller gave it. */
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
  if (container !== undefined && endsAgainAndAgain(container)) {
    return { why: `its container ends with code ${exitCodeOf(container)}`, isAboutPort: true };
  }
  return { why: container?.state?.waiting?.reason ?? status?.reason ?? 'not ready', isAboutPort: false };
}

function endsAgainAndAgain({ state, restartCount }: V1ContainerStatus): boolean {
  return state?.waiting?.reason === 'CrashLoopBackOff' || (restartCount > 0 && state?.running === undefined);
}

function exitCodeOf({ state, lastState }: V1ContainerStatus): string {
  return String((state?.terminated ?? lastState?.terminated)?.exitCode ?? 'unknown');
}

function timeOf(time: Date | string | undefined): number {
  return time === undefined ? 0 : new Date(time).getTime();
}
