import type { NodeAddresses } from '../../nodes/nodeAddress.ts';
import type { Placement } from '../../nodes/nodeAffinity.ts';
import type { Client } from '../../runtime/client/client.ts';
import { systemClock, type Clock } from '../../runtime/process/clock.ts';
import { Controller, type ControllerMetrics } from '../../runtime/controller/controller.ts';
import { PacedQueue } from '../../runtime/controller/workqueue.ts';
import { createInformer, type Informer, type ReflectorMetrics } from '../../runtime/cache/informer.ts';
import { InformerPool } from '../../runtime/cache/informerPool.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { KubeObject, ObjectRef } from '../../runtime/client/resource.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { StackSource } from '../contract/context.ts';
import { createCaches } from './observe/caches.ts';
import { allComponents } from './components/components.ts';
import { deployedPlacement } from './components/exporter.ts';
import { deployedScrapeInterval } from './components/prometheus.ts';
import { foreignServer } from './observe/ownPrometheus.ts';
import { stackProblems } from './model/stackGroups.ts';
import type { MeasurementMetrics } from './metrics.ts';
import type { MeasurementOptions } from './options.ts';
import { createReconciles, type Reconciles } from './reconcile.ts';
import { ProblemReport } from '../../runtime/status/problemReport.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';

export interface MeasurementControllerOptions {
  /** Refuses writes in a standby. */
  client: Client;
  transport: Transport;
  stacks: StackSource;
  options: MeasurementOptions;
  /** The pod that this process runs in. Its Deployment owns the objects in its namespace. */
  pod?: ObjectRef;
  recorder?: Pick<EventRecorder, 'event'>;
  /** The shared cache of Nodes. */
  nodes: () => readonly NodeAddresses[];
  /** Nodes that cannot be measured, by name. Missing exporters on them are not a problem. */
  notMeasurable?: () => ReadonlyMap<string, unknown>;
  logger: Logger;
  metrics?: { controller?: ControllerMetrics; reflector?: ReflectorMetrics; measurement?: MeasurementMetrics };
  clock?: Clock;
}

/** The running measurement. */
export interface Measurement {
  readonly informers: readonly Informer<KubeObject>[];
  /** Watches of the exporters that TrafficStacks use. Close them at the end. */
  readonly watches: Pick<InformerPool, 'close'>;
  readonly controller: Controller;
  /** Enqueues everything and reports all problems again. Call at the start of leadership. */
  enqueueAll(): void;
  /** The present problems; empty if everything is in the desired state. */
  problems(): readonly Problem[];
  /** Returns why the Prometheus of our name must not be queried: it is foreign. Undefined if it is ours. */
  foreignServer(): string | undefined;
  /** Returns the scrape interval of the deployed Prometheus; undefined if none is deployed. */
  scrapeIntervalSeconds(): number | undefined;
  /** Returns where the deployed node-exporter runs; undefined if none is deployed. */
  exporterPlacement(): Placement | undefined;
}

/** Creates the controller that deploys node-exporter and Prometheus, and writes Prometheus' targets. */
export function createMeasurementController(settings: MeasurementControllerOptions): Measurement {
  const { metrics, clock = systemClock, ...rest } = settings;
  const { logger, options, transport, stacks } = rest;
  const caches = createCaches({ transport, stacks, options, logger, clock, ...defined('metrics', metrics?.reflector) });
  const report = new ProblemReport({
    name: 'measurement',
    action: 'Measure',
    namespace: options.namespace,
    logger,
    onChange: (count) => metrics?.measurement?.problems(count),
    ...defined('recorder', settings.recorder),
  });
  const watches = new InformerPool({
    create: (selection) => createInformer({ ...selection, transport, logger, clock }),
    onChange: () => paced.add('targets' satisfies keyof Reconciles),
  });
  const reconciles = createReconciles({
    ...rest,
    watches,
    ...defined('metrics', metrics?.measurement),
    clock,
    caches,
    report,
  });
  const controller = new Controller({
    name: 'measurement',
    reconcile: (key) => reconciles[key as keyof Reconciles](),
    logger,
    clock,
    ...defined('metrics', metrics?.controller),
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

/** An optional property; absent if the value is undefined. */
function defined<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
