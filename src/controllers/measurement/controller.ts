import type { V1OwnerReference } from '@kubernetes/client-node';
import { Applier } from '../../runtime/apply.ts';
import type { Client } from '../../runtime/client.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Controller } from '../../runtime/controller.ts';
import type { ControllerMetrics, ReconcileResult } from '../../runtime/controller.ts';
import { WaitingError } from '../../runtime/errors.ts';
import type { Informer, ReflectorMetrics } from '../../runtime/informer.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { KubeObject, ObjectRef } from '../../runtime/resource.ts';
import type { Transport } from '../../runtime/transport.ts';
import { carryOut } from './act.ts';
import { createCaches } from './caches.ts';
import type { Caches } from './caches.ts';
import { allComponents } from './components/components.ts';
import { foreignServer } from './decide/foreignServer.ts';
import { missingExporters } from './decide/missingExporters.ts';
import { planComponents } from './decide/plan.ts';
import type { Problem } from './decide/plan.ts';
import type { MeasurementMetrics } from './metrics.ts';
import { FIELD_MANAGER } from './names.ts';
import { observe, observeExporters } from './observe.ts';
import { findOperatorDeployment } from './operator.ts';
import type { MeasurementOptions } from './options.ts';
import { ProblemReport } from './report.ts';
import type { Recorder } from './report.ts';
import { TargetsPass } from './targetsPass.ts';

export interface MeasurementControllerOptions {
  /** Refuses to write while this process does not lead. */
  client: Client;
  transport: Transport;
  options: MeasurementOptions;
  /** The pod that this process runs in: its Deployment owns what is made in its namespace. */
  pod?: ObjectRef;
  recorder?: Recorder;
  logger: Logger;
  metrics?: { controller?: ControllerMetrics; reflector?: ReflectorMetrics; measurement?: MeasurementMetrics };
  clock?: Clock;
}

/** What is to be run, and what others may ask. */
export interface Measurement {
  readonly informers: readonly Informer<KubeObject>[];
  readonly controller: Controller;
  /** Looks at everything again: to be called when this process begins to lead. */
  enqueueAll(): void;
  /** What is wrong now; empty when everything is as it should be. */
  problems(): readonly Problem[];
  /** Why the Prometheus under the own one's name is not to be asked: it is somebody else's. Undefined when it is not. */
  foreignServer(): string | undefined;
}

const COMPONENTS_KEY = 'components';
const TARGETS_KEY = 'targets';
/** Problems that are known by what the DaemonSet's pods do, not by what was written. */
const EXPORTERS = 'exporters';

/** Should an event ever be lost, it is put right by then. */
const RESYNC_MS = 60_000;
/** What is being deleted is usually gone by then; its deletion is an event too. */
const LEAVING_MS = 2_000;
const SYNC_MS = 200;

/** Keeps node-exporter and Prometheus deployed, and Prometheus' targets as the nodes are. */
export function createMeasurementController(settings: MeasurementControllerOptions): Measurement {
  const { logger, metrics, options, transport, clock = systemClock } = settings;
  const caches = createCaches({ transport, options, logger, clock, ...defined('metrics', metrics?.reflector) });
  const report = new ProblemReport({
    namespace: options.namespace,
    logger,
    onChange: (count) => metrics?.measurement?.problems(count),
    ...defined('recorder', settings.recorder),
  });
  const passes = createPasses({ ...settings, clock }, caches, report);
  const controller = new Controller({
    name: 'measurement',
    reconcile: (key) => (key === TARGETS_KEY ? passes.targets() : passes.components()),
    logger,
    clock,
    ...defined('metrics', metrics?.controller),
  });
  const enqueueComponents = (): void => controller.queue.add(COMPONENTS_KEY);
  const enqueueTargets = (): void => controller.queue.add(TARGETS_KEY);
  const enqueueAll = (): void => [enqueueComponents, enqueueTargets].forEach((enqueue) => enqueue());
  caches.subscribe(enqueueComponents, enqueueTargets);
  enqueueAll();
  const components = allComponents(options);
  return {
    informers: caches.informers,
    controller,
    enqueueAll,
    problems: () => report.current,
    foreignServer: () => foreignServer(components.map((component) => ({ component, live: caches.live(component) }))),
  };
}

interface Passes {
  components(): Promise<ReconcileResult>;
  targets(): Promise<ReconcileResult>;
}

function createPasses(
  settings: MeasurementControllerOptions & { clock: Clock },
  caches: Caches,
  report: ProblemReport,
): Passes {
  const { client, options, logger, metrics, clock } = settings;
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  const findOwner = once(() => findOperatorDeployment(client, settings.pod));
  const targets = new TargetsPass({
    options,
    podName: settings.pod?.name,
    caches,
    client,
    applier,
    clock,
    onPass(count, problems) {
      metrics?.measurement?.targets(count);
      report.update(TARGETS_KEY, problems);
    },
  });
  const begin = async (): Promise<V1OwnerReference | undefined> => {
    if (!caches.synced) throw new WaitingError('CachesNotSynced', 'caches are not filled yet', SYNC_MS);
    report.about = await findOwner();
    return report.about;
  };
  const exporters = async (): Promise<void> => {
    const observed = await observeExporters(options, { client, live: (each) => caches.live(each) });
    report.update(EXPORTERS, missingExporters({ ...observed, port: options.exporter.port, now: clock.now() }));
  };

  return {
    async components() {
      const owner = await begin();
      const plan = planComponents(await observe(options, owner, { client, live: (each) => caches.live(each) }));
      const failures = await carryOut(plan, { applier, client });
      report.update(COMPONENTS_KEY, [...plan.problems, ...failures.map(({ problem }) => problem)]);
      if (failures[0] !== undefined) throw failures[0].error;
      await exporters();
      return { requeueAfterMs: plan.waiting ? LEAVING_MS : RESYNC_MS };
    },
    async targets() {
      const owner = await begin();
      if (!options.prometheus.enabled) return { requeueAfterMs: RESYNC_MS };
      return (await targets.run(owner)) ?? { requeueAfterMs: RESYNC_MS };
    },
  };
}

/** Remembers the first answer; what throws is asked again. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: { value: T } | undefined;
  return async () => (answer ??= { value: await ask() }).value;
}

/** An optional property, left out where there is no value. */
function defined<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
