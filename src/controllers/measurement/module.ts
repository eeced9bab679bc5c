import { optionalCachePart, controllerPart } from '../../runtime/manager/manager.ts';
import { whenAborted } from '../../runtime/async/deadline.ts';
import type { Part } from '../../runtime/process/part.ts';
import { defineController } from '../contract/module.ts';
import { builtInsOf } from './components/builtIns.ts';
import { MEASUREMENT_FLAGS, measurementFlagProblem, measurementOptions } from './flags.ts';
import { createMeasurementMetrics, type MeasurementMetrics } from './metrics.ts';
import { controllerRules, removalRules } from './rbac.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { measurementSet, allComponents } from './components/components.ts';
import { FIELD_MANAGER } from './names.ts';
import { removeSet } from '../contract/deployedSet.ts';
import { defaultMeasurementOptions } from './options.ts';
import { systemClock, type Clock } from '../../runtime/process/clock.ts';
import { Controller, type ControllerMetrics } from '../../runtime/controller/controller.ts';
import { PacedQueue } from '../../runtime/controller/workqueue.ts';
import { createInformer, type Informer, type ReflectorMetrics } from '../../runtime/cache/informer.ts';
import { InformerPool } from '../../runtime/cache/informerPool.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { StackSource } from '../contract/context.ts';
import type { MeasuringSource } from '../contract/measuring.ts';
import { createCaches } from './observe/caches.ts';
import { deployedPlacement } from './components/exporter.ts';
import { deployedScrapeInterval } from './components/prometheus.ts';
import { foreignServer } from './observe/ownPrometheus.ts';
import { stackProblems } from './model/stackGroups.ts';
import { createReconciles, type ReconcileOptions, type Reconciles } from './reconcile.ts';
import { ProblemReport } from '../../runtime/status/problemReport.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';

/** The controller that deploys node-exporter and, unless --prometheus-url is set, a small Prometheus. */
export const measurement = defineController({
  name: 'measurement',
  kinds: [],
  flags: MEASUREMENT_FLAGS,
  flagProblem: measurementFlagProblem,
  rights: (namespace) => ({ controller: controllerRules(namespace), cleanup: removalRules(namespace) }),
  registerMetrics: createMeasurementMetrics,
  builtIns: (flags) => builtInsOf(measurementOptions(flags)),
  create({ client, transport, nodes, stacks, events, unmeasured, measuring, podName, metrics, clock, logger }, flags) {
    const { namespace } = flags;
    const options = measurementOptions(flags);
    const running = createMeasurementController({
      client,
      transport,
      stacks,
      options,
      pod: podName === undefined ? undefined : { namespace, name: podName },
      recorder: events,
      nodes: () => nodes.lister.list(),
      notMeasurable: () => unmeasured.notMeasurable,
      logger,
      clock,
      metrics: {
        controller: metrics.controller,
        reflector: metrics.reflector,
        measurement: createMeasurementMetrics(metrics.registry, options),
      },
    });
    measuring.tellBy(running);
    const watches: Part = {
      name: 'watches of exporters that TrafficStacks use',
      stage: 'work',
      async run(stop) {
        await whenAborted(stop);
        await running.watches.close();
      },
    };
    return {
      parts: [...running.informers.map(optionalCachePart), watches, controllerPart(running.controller)],
      enqueueAll: () => running.enqueueAll(),
    };
  },
  async cleanUp({ client, namespace, logger }) {
    await removeMeasurement(client, { namespace, logger });
  },
});

/**
 * Removes all objects of this controller, the namespace of node-exporter last, before the operator itself is removed.
 * Stop the operator first: a running operator would create the objects again. Does not wait for the deletions to end.
 *
 * @param namespace the namespace of the operator
 * @returns the objects that were kept, and why
 * @throws ApiError, TransportError
 */
export async function removeMeasurement(
  client: Client,
  { namespace, logger }: { namespace: string; logger: Logger },
): Promise<readonly Problem[]> {
  const options = defaultMeasurementOptions(namespace);
  options.prometheus.enabled = false;
  // The claim is found by its name, so its size does not matter.
  options.prometheus.volume = { kind: 'claim', size: '1Gi' };
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  return removeSet(measurementSet(options), { client, applier });
}

interface MeasurementControllerOptions extends Omit<
  ReconcileOptions,
  'metrics' | 'clock' | 'caches' | 'watches' | 'report'
> {
  transport: Transport;
  stacks: StackSource;
  recorder?: Pick<EventRecorder, 'event'> | undefined;
  metrics?: { controller?: ControllerMetrics; reflector?: ReflectorMetrics; measurement?: MeasurementMetrics };
  clock?: Clock;
}

/** The running measurement. */
export interface Measurement extends MeasuringSource {
  readonly informers: readonly Informer<KubeObject>[];
  /** Watches of the exporters that TrafficStacks use. Close them at the end. */
  readonly watches: Pick<InformerPool, 'close'>;
  readonly controller: Controller;
  /** Enqueues everything and reports all problems again. Call at the start of leadership. */
  enqueueAll(): void;
}

/** Creates the controller that deploys node-exporter and Prometheus, and writes Prometheus' targets. */
export function createMeasurementController(settings: MeasurementControllerOptions): Measurement {
  const { metrics, clock = systemClock, ...rest } = settings;
  const { logger, options, transport, stacks } = rest;
  const caches = createCaches({ transport, stacks, options, logger, clock, metrics: metrics?.reflector });
  const report = new ProblemReport({
    name: 'measurement',
    action: 'Measure',
    namespace: options.namespace,
    logger,
    onChange: (count) => metrics?.measurement?.problems(count),
    recorder: settings.recorder,
  });
  const watches = new InformerPool({
    create: (selection) => createInformer({ ...selection, transport, logger, clock }),
    onChange: () => paced.add('targets' satisfies keyof Reconciles),
  });
  const reconciles = createReconciles({
    ...rest,
    watches,
    metrics: metrics?.measurement,
    clock,
    caches,
    report,
  });
  const controller = new Controller({
    name: 'measurement',
    reconcile: (key) => reconciles[key as keyof Reconciles](),
    logger,
    clock,
    metrics: metrics?.controller,
  });
  const paced = new PacedQueue(controller.queue, clock);
  const enqueue = (key: keyof Reconciles) => (): void => controller.queue.add(key);
  const enqueues = [enqueue('components'), enqueue('targets'), enqueue('agentTargets')] as const;
  const enqueueAll = (): void => enqueues.forEach((add) => add());
  caches.subscribe(...enqueues);
  enqueueAll();
  const components = allComponents(options);
  return {
    informers: caches.informers,
    watches,
    controller,
    enqueueAll: () => {
      report.tellAgain();
      enqueueAll();
    },
    problems: () => [...report.current, ...stackProblems(stacks.active(stacks.informer.lister.list()))],
    foreignServer: () => foreignServer(components.map((member) => ({ member, live: caches.live(member) }))),
    scrapeIntervalSeconds: () => deployedScrapeInterval(components.map((member) => caches.live(member))),
    exporterPlacement: () => deployedPlacement((member) => caches.live(member), options),
  };
}
