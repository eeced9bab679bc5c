import type { V1OwnerReference } from '@kubernetes/client-node';
import type { NodeAddresses } from '../../nodes/nodeAddress.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { InformerPool } from '../../runtime/cache/informerPool.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { isForbidden, isInvalid } from '../../runtime/client/errors.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ObjectRef, KubeObject } from '../../runtime/client/resource.ts';
import type { Failure } from '../../runtime/objectSet/act.ts';
import { idOf } from '../../runtime/objectSet/objectSet.ts';
import { writeProblem } from '../../runtime/objectSet/plan.ts';
import { allComponents, measurementSet } from './components/components.ts';
import { withPrometheus } from './components/settings.ts';
import type { Caches } from './observe/caches.ts';
import { deployedByFlags, STACK_TYPES, switchedOff, untouchedGroups, type StackGroup } from './model/stackGroups.ts';
import {
  missingExporters,
  nodesWithoutPod,
  portOf,
  lacksExporters,
  type ExportersObservation,
} from './model/missingExporters.ts';
import type { MeasurementMetrics } from './metrics.ts';
import { FIELD_MANAGER, exporterNamespace } from './names.ts';
import { DeployedSet, RESYNC_MS, isOurPod } from '../contract/deployedSet.ts';
import { UsedExporter } from './observe/usedExporter.ts';
import type { MeasurementOptions } from './options.ts';
import type { ProblemReport } from '../../runtime/status/problemReport.ts';
import { agentTargets, nodeTargets, TargetsPass } from './targetsPass.ts';
import { PERSISTENT_VOLUME_CLAIMS, DAEMONSETS, PODS } from '../../runtime/client/resources.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { Component, ComponentGroup } from './components/component.ts';

export interface ReconcileOptions {
  /** Refuses writes in a standby. */
  client: Client;
  options: MeasurementOptions;
  /** The pod that this process runs in. Its Deployment owns the objects in its namespace. */
  pod?: ObjectRef | undefined;
  logger: Logger;
  metrics?: MeasurementMetrics | undefined;
  clock: Clock;
  /** Nodes that cannot be measured, by name. Missing exporters on them are not a problem. */
  notMeasurable?: (() => ReadonlyMap<string, unknown>) | undefined;
  /** The shared cache of Nodes. */
  nodes: () => readonly NodeAddresses[];
  caches: Caches;
  /** The watch of the existing exporter that a TrafficStack uses. A change enqueues the targets. */
  watches: Pick<InformerPool, 'watch' | 'current'>;
  report: ProblemReport;
}

/** The reconciles of this controller. They throw ApiError, TransportError, NotLeaderError, WaitingError. */
export interface Reconciles {
  /** Applies or removes the objects of node-exporter and Prometheus. */
  components(): Promise<ReconcileResult>;
  /** Writes the nodes that Prometheus scrapes. */
  targets(): Promise<ReconcileResult>;
  /** Writes the agents of the connectivity check that Prometheus scrapes, or removes them. */
  agentTargets(): Promise<ReconcileResult>;
}

/** The sources of problems. Each is updated separately. */
const SOURCE = {
  /** Objects that may not be listed or watched. */
  caches: 'caches',
  /** Pods of the DaemonSet that are missing or not ready, and that the pods may not be listed. */
  exporters: 'exporters',
  exporterPods: 'exporterPods',
  /** ConfigMaps of targets that are full or foreign, and missing rights to write them. */
  targets: 'targets',
  targetsWrite: 'targetsWrite',
  agentTargets: 'agentTargets',
  agentTargetsWrite: 'agentTargetsWrite',
} as const;

/** Requeue delay while a TrafficStack uses an exporter whose changes cause no event: ms. */
const POLL_MS = 10_000;

/** Creates the three reconciles. If a right to watch is missing, objects that depend on it are unchanged. */
export function createReconciles(o: ReconcileOptions): Reconciles {
  const { client, options, logger, metrics, clock, caches, report } = o;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const deployed = new DeployedSet<ComponentGroup, StackGroup>({
    ...{ client, applier, pod: o.pod, report, problemOf, isSynced: () => caches.initialized },
    ...{ types: STACK_TYPES, byFlags: deployedByFlags(options), hasDefaultStack: options.hasDefaultStack },
    ...{ members: allComponents(options), live: (member) => caches.live(member) },
  });
  const checkExporters = createExporterCheck(o);
  const used = new UsedExporter({
    watches: o.watches,
    ...{ client, clock, nodes: o.nodes, port: options.exporter.port },
    used: () => caches.stacks.ownership()?.exporter.used,
  });
  const writing = { options, prometheusPods: () => caches.prometheusPods(), client, applier, clock };
  const targets = new TargetsPass({
    ...writing,
    source: nodeTargets({ options, podName: o.pod?.name, caches, used: () => used.targets() }),
    onPass(count, problems) {
      metrics?.targets(count);
      report.update(SOURCE.targets, problems);
    },
  });
  const agents = new TargetsPass({
    ...writing,
    source: agentTargets(options, caches),
    onPass: (_count, problems) => report.update(SOURCE.agentTargets, problems),
  });
  const readingFirst: Pick<TargetsPass, 'run'> = {
    async run(owner) {
      await used.read();
      return targets.run(owner);
    },
  };
  const knowsTargets = (): boolean => caches.knowsTargets && caches.stacks.ownership() !== undefined;
  const begin = async (): Promise<V1OwnerReference | undefined> => {
    const owner = await deployed.begin();
    report.update(SOURCE.caches, caches.refusals());
    return owner;
  };

  /** Writes targets once their sources are known. */
  const write = async (
    pass: Pick<TargetsPass, 'run'>,
    what: string,
    source: string,
    areKnown: () => boolean,
  ): Promise<ReconcileResult> => {
    const owner = await begin();
    if (!options.prometheus.enabled || !areKnown()) return { requeueAfterMs: RESYNC_MS };
    const result = await reportingRefusal(report, source, what, () => pass.run(owner));
    return result ?? { requeueAfterMs: RESYNC_MS };
  };

  return {
    async components() {
      const owner = await begin();
      const ownership = caches.stacks.ownership();
      const unknown = caches.unknownGroups();
      // The stack manages Prometheus itself; this controller keeps its claim.
      const desired = withPrometheus(options, ownership?.prometheus.component?.prometheus);
      const result = await deployed.write(measurementSet(desired, owner), switchedOff(options, ownership), {
        ownership,
        unknown: [...unknown, ...untouchedGroups(ownership)],
      });
      if (!unknown.has('exporter')) await checkExporters();
      return result;
    },
    async targets() {
      const result = await write(readingFirst, "Prometheus' targets", SOURCE.targetsWrite, knowsTargets);
      const { requeueAfterMs = RESYNC_MS } = result;
      return { requeueAfterMs: used.isWithoutEvents ? Math.min(requeueAfterMs, POLL_MS) : requeueAfterMs };
    },
    agentTargets: () =>
      write(agents, "Prometheus' agent targets", SOURCE.agentTargetsWrite, () => caches.knowsAgentTargets),
  };
}

/**
 * Creates the check for missing exporters. It remembers since when nodes lack a pod, because no object records that. A
 * new process therefore waits again before it reports them.
 */
function createExporterCheck({
  client,
  options,
  caches,
  clock,
  report,
  notMeasurable,
}: ReconcileOptions): () => Promise<void> {
  let withoutPodSince: number | undefined;
  return async () => {
    const observed = await reportingRefusal(report, SOURCE.exporterPods, 'pods of node-exporter', () =>
      observeExporters(options, { client, live: (each) => caches.live(each) }),
    );
    const now = clock.now();
    const lacking = observed.daemonSet !== undefined && nodesWithoutPod(observed.daemonSet) > 0;
    withoutPodSince = lacking ? (withoutPodSince ?? now) : undefined;
    report.update(
      SOURCE.exporters,
      missingExporters({
        ...observed,
        withoutPodSince,
        notMeasurable: notMeasurable?.() ?? new Map(),
        // A TrafficStack may set a port other than the flags.
        port: portOf(observed.daemonSet) ?? options.exporter.port,
        now,
      }),
    );
  };
}

/**
 * Runs `work`. If a right, a quota or admission refuses it, reports that as the only problem of `source`; if it succeeds, clears the problem.
 */
async function reportingRefusal<T>(
  report: ProblemReport,
  source: string,
  object: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    report.update(source, []);
    return result;
  } catch (error) {
    if (isForbidden(error) || isInvalid(error)) {
      const reason = isForbidden(error) ? 'Forbidden' : 'WriteFailed';
      report.update(source, [{ reason, object, message: error.detail }]);
    }
    throw error;
  }
}

/** Converts a failed write into a problem. */
export function problemOf({ member, error }: Failure): Problem {
  if (member.resource.kind === PERSISTENT_VOLUME_CLAIMS.kind && isInvalid(error)) {
    return { reason: 'VolumeNotChanged', object: idOf(member), message: volumeAdvice(error.detail) };
  }
  return writeProblem(member, error);
}

/** Returns the message about a changed claim that the API server rejects. Only its size can change, and only grow. */
function volumeAdvice(detail: string): string {
  return `${detail}; a claim can only grow, if its StorageClass allows that, and cannot change its StorageClass: restore --prometheus-storage-size and --prometheus-storage-class (or prometheus.storage in the TrafficStack), or delete the claim with all its samples, and the operator creates it again`;
}

/**
 * Reads the input for the decision about missing exporters. Lists the pods only while the DaemonSet lacks some: a watch of
 * all pods would have no other use. The right to list pods exists for the clean-up anyway.
 *
 * @throws ApiError, TransportError
 */
async function observeExporters(
  options: MeasurementOptions,
  { client, live }: { client: Client; live: (component: Component) => KubeObject | undefined },
): Promise<Pick<ExportersObservation, 'daemonSet' | 'pods'>> {
  const component = allComponents(options).find(({ resource }) => resource.kind === DAEMONSETS.kind);
  const daemonSet = component === undefined ? undefined : live(component);
  if (!options.exporter.enabled || daemonSet === undefined || !lacksExporters(daemonSet)) {
    return { daemonSet: undefined, pods: [] };
  }
  const pods = await client.list(PODS, { namespace: exporterNamespace(options.namespace) });
  return { daemonSet, pods: pods.filter(isOurPod) };
}
