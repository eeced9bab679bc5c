import type { V1OwnerReference } from '@kubernetes/client-node';
import type { NodeAddresses } from '../../nodes/nodeAddress.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { InformerPool } from '../../runtime/cache/informerPool.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import { isForbidden, WaitingError } from '../../runtime/client/errors.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ObjectRef } from '../../runtime/client/resource.ts';
import { carryOut } from '../../runtime/objectSet/act.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import { observeSet } from '../../runtime/objectSet/observe.ts';
import { planSet } from '../../runtime/objectSet/plan.ts';
import { problemOf } from './failures.ts';
import { allComponents, measurementSet } from './components/components.ts';
import { withPrometheus } from './components/settings.ts';
import type { Caches } from './observe/caches.ts';
import { deployedByFlags, KEPT_TYPES, untouchedGroups, switchedOff } from './model/keepers.ts';
import { missingExporters, nodesWithoutPod, portOf } from './model/missingExporters.ts';
import type { MeasurementMetrics } from './metrics.ts';
import { FIELD_MANAGER } from './names.ts';
import { keptByStacks } from '../contract/keepers.ts';
import { listStrangers } from '../contract/ownership.ts';
import { unkeptProblems } from '../contract/unkept.ts';
import { observeExporters } from './observe/observe.ts';
import { UsedExporter } from './observe/usedExporter.ts';
import { findOperatorDeployment } from '../contract/operatorDeployment.ts';
import type { MeasurementOptions } from './options.ts';
import type { ProblemReport } from '../../runtime/status/problemReport.ts';
import { agentTargets, nodeTargets } from './targetSources.ts';
import { TargetsPass } from './targetsPass.ts';

export interface PassesOptions {
  client: Client;
  options: MeasurementOptions;
  /** The pod that this process runs in. */
  pod?: ObjectRef;
  logger: Logger;
  metrics?: MeasurementMetrics;
  clock: Clock;
  /** Nodes that cannot be measured, by name. */
  notMeasurable?: () => ReadonlyMap<string, unknown>;
  /** The shared cache of Nodes. */
  nodes: () => readonly NodeAddresses[];
  caches: Caches;
  /** The watch of the existing exporter that a TrafficStack uses. A change enqueues the targets. */
  watches: Pick<InformerPool, 'hold' | 'current'>;
  report: ProblemReport;
}

/** The reconciles of this controller. They throw ApiError, TransportError, NotLeaderError, WaitingError. */
export interface Passes {
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
  /** Components that are blocked, or whose write failed. */
  components: 'components',
  /** Pods of the DaemonSet that are missing or not ready, and that the pods may not be listed. */
  exporters: 'exporters',
  exporterPods: 'exporterPods',
  /** ConfigMaps of targets that are full or foreign, and missing rights to write them. */
  targets: 'targets',
  targetsWrite: 'targetsWrite',
  agentTargets: 'agentTargets',
  agentTargetsWrite: 'agentTargetsWrite',
} as const;

/** Interval of reconciles without an event, in case an event is lost: ms. */
const RESYNC_MS = 60_000;
/** Requeue delay while an object is being deleted: ms. The deletion also causes an event. */
const LEAVING_MS = 2_000;
/** Requeue delay while a TrafficStack uses an exporter whose changes cause no event: ms. */
const POLL_MS = 10_000;
/** Requeue delay until the caches are synced: ms. */
const SYNC_MS = 200;

/** Creates the three reconciles. If a right to watch is missing, objects that depend on it are unchanged. */
export function createPasses(o: PassesOptions): Passes {
  const { client, options, logger, metrics, clock, caches, report } = o;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const findOwner = once(() => findOperatorDeployment(client, o.pod));
  const checkExporters = createExporterCheck(o);
  const used = new UsedExporter({
    watches: o.watches,
    ...{ client, clock, nodes: o.nodes, port: options.exporter.port },
    used: () => caches.stacks.keepers()?.exporter.used,
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
  const knowsTargets = (): boolean => caches.knowsTargets && caches.stacks.keepers() !== undefined;
  const begin = async (): Promise<V1OwnerReference | undefined> => {
    if (!caches.initialized) throw new WaitingError('CachesNotSynced', 'caches are not synced yet', SYNC_MS);
    report.about = await findOwner();
    report.update(SOURCE.caches, caches.refusals());
    return report.about;
  };

  const keepable = {
    ...{ types: KEPT_TYPES, byFlags: deployedByFlags(options), hasDefaultStack: options.hasDefaultStack },
    ...{ members: allComponents(options), live: (member: Member) => caches.live(member) },
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
      const keepers = caches.stacks.keepers();
      const unknown = caches.unknownGroups();
      const kept = keptByStacks(KEPT_TYPES, keepers);
      // The stack manages Prometheus itself; this controller keeps its claim.
      const desired = withPrometheus(options, keepers?.prometheus.component?.prometheus);
      const observation = await observeSet(measurementSet(desired, owner), switchedOff(options, keepers), {
        live: (each) => caches.live(each),
        unknown: new Set([...unknown, ...kept, ...untouchedGroups(keepers)]),
        strangersIn: (namespace) => listStrangers(client, namespace),
      });
      const plan = planSet(observation);
      const failures = await carryOut(plan, { applier, client });
      report.update(SOURCE.components, [
        ...plan.problems,
        ...failures.map(problemOf),
        ...unkeptProblems(keepers, keepable),
      ]);
      if (failures[0] !== undefined) throw failures[0].error;
      if (!unknown.has('exporter')) await checkExporters();
      return { requeueAfterMs: plan.waiting ? LEAVING_MS : RESYNC_MS };
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
}: PassesOptions): () => Promise<void> {
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
 * Runs `work`. If it is forbidden, reports that as the only problem of `source`; if it succeeds, clears the problem.
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
    if (isForbidden(error)) {
      report.update(source, [{ reason: 'Forbidden', object, message: error.detail }]);
    }
    throw error;
  }
}

/** Caches the first result of `read`. If `read` throws, the next call repeats it. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let result: { value: T } | undefined;
  return async () => (result ??= { value: await read() }).value;
}
