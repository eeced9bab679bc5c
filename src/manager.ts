import { hostname } from 'node:os';
import type { V1Deployment } from '@kubernetes/client-node';
import { TRAFFIC_WATCHES, type TrafficWatch } from './api/trafficwatch/schema.ts';
import { createMeasurementController, type Measurement } from './controllers/measurement/controller.ts';
import { createMeasurementMetrics } from './controllers/measurement/metrics.ts';
import { askingOnlyOurs } from './controllers/measurement/observe/ownPrometheus.ts';
import { createTrafficWatchControllers, FIELD_MANAGER, watchIndexes } from './controllers/trafficwatch/controller.ts';
import type { TrafficWatchControllers } from './controllers/trafficwatch/controller.ts';
import { createFailedPodInformer, type FailedPod } from './controllers/trafficwatch/act/rejectedPods.ts';
import { MANAGED_BY } from './controllers/trafficwatch/decide/deployment/deployment.ts';
import { withScalersOnly } from './controllers/trafficwatch/decide/deployment/replicas.ts';
import { createElection } from './manager/election.ts';
import type { ManagerOptions, Process } from './manager/options.ts';
import { createServers } from './manager/servers.ts';
import type { CachedNode } from './nodes/cachedNode.ts';
import { createNodeInformer, knownNodes } from './nodes/informer.ts';
import { UnmeasuredNodes } from './nodes/unmeasuredNodes.ts';
import { createClient, leaderOnly, type Client } from './runtime/client/client.ts';
import { systemClock } from './runtime/process/clock.ts';
import { EventRecorder } from './runtime/controller/events.ts';
import { createInformer, withoutManagedFields, type Informer } from './runtime/cache/informer.ts';
import { cachePart, controllerPart, Manager, optionalCachePart } from './runtime/manager/manager.ts';
import { createMetrics, createRegistry } from './runtime/manager/metrics.ts';
import { DEPLOYMENTS } from './runtime/client/resources.ts';
import { createTransport } from './runtime/client/transport.ts';
import { countingWrites } from './runtime/client/writeCount.ts';
import { createUsageFeed, type UsageFeed } from './usage/pass/feed.ts';
import { createUsageMetrics } from './usage/pass/metrics.ts';
import { createPrometheusClient } from './prometheus/prometheusClient.ts';

const COMPONENT = 'traffic.example.com/traffic-operator';

interface Caches {
  readonly watches: Informer<TrafficWatch>;
  readonly nodes: Informer<CachedNode>;
  readonly deployments: Informer<V1Deployment>;
  readonly failedPods: Informer<FailedPod>;
}

function createCaches({ options, transport, metrics, logger }: Process): Caches {
  const common = { transport, logger, metrics: metrics.reflector };
  const labelSelector = Object.entries(MANAGED_BY)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return {
    watches: createInformer({
      ...common,
      resource: TRAFFIC_WATCHES,
      transform: withoutManagedFields,
      indexes: watchIndexes,
    }),
    nodes: createNodeInformer({
      ...common,
      fieldManager: FIELD_MANAGER,
      // The operator's own targets carry the node's name; another Prometheus' series may only carry an address.
      withAddresses: !options.measurement.prometheus.enabled,
    }),
    deployments: createInformer({ ...common, resource: DEPLOYMENTS, labelSelector, transform: withScalersOnly }),
    failedPods: createFailedPodInformer(common),
  };
}

function createFeed(
  { options, metrics, logger }: Process,
  nodes: Informer<CachedNode>,
  measurement: Measurement,
): UsageFeed {
  const client = createPrometheusClient(options.endpoint);
  return createUsageFeed({
    endpoint: options.endpoint,
    client: options.measurement.prometheus.enabled ? askingOnlyOurs(client, () => measurement.foreignServer()) : client,
    query: options.query,
    intervalMs: options.intervalMs,
    nodes: knownNodes(nodes),
    clock: systemClock,
    logger,
    metrics: createUsageMetrics(metrics.registry),
  });
}

function createMeasurement(
  process: Process,
  client: Client,
  recorder: EventRecorder,
  unmeasured: UnmeasuredNodes,
): Measurement {
  const { options, transport, metrics, logger } = process;
  const { namespace, podName, measurement } = options;
  const { controller, reflector } = metrics;
  return createMeasurementController({
    client,
    transport,
    options: measurement,
    ...(podName === undefined ? {} : { pod: { namespace, name: podName } }),
    recorder,
    notMeasurable: () => unmeasured.notMeasurable,
    logger,
    metrics: { controller, reflector, measurement: createMeasurementMetrics(metrics.registry) },
  });
}

/** What writes, and what it writes with. */
interface Writers {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly isLeader: () => boolean;
}

/** What figures come from. */
interface Measuring {
  readonly feed: UsageFeed;
  readonly measurement: Measurement;
}

function createWatches(
  process: Process,
  caches: Caches & { readonly unmeasured: UnmeasuredNodes },
  { feed, measurement }: Measuring,
  writers: Writers,
): TrafficWatchControllers {
  const { transport, metrics, logger } = process;
  return createTrafficWatchControllers({
    ...caches,
    ...writers,
    transport,
    clock: systemClock,
    feed,
    measurementProblems: () => measurement.problems(),
    registry: metrics.registry,
    metrics: metrics.controller,
    logger,
  });
}

function createProcess(options: ManagerOptions): Process {
  const { kubeConfig, logger } = options;
  const metrics = createMetrics(createRegistry());
  return { options, metrics, logger, transport: createTransport({ kubeConfig, logger, metrics: metrics.transport }) };
}

/**
 * The one list of everything that runs. All of it runs in every replica; what writes has a client that refuses while
 * the replica does not lead, so that a standby's caches, passes and decisions are warm when it is elected.
 *
 * @throws UsageError for a certificate that cannot be read; Error when a part ended by itself
 */
export async function runManager(options: ManagerOptions, signal: AbortSignal): Promise<void> {
  const process = createProcess(options);
  const { transport, metrics, logger } = process;
  const started: (() => void)[] = [];
  const election = createElection(process, () => started.forEach((enqueueAll) => enqueueAll()));
  const reading = createClient(transport);
  const client = countingWrites(leaderOnly(reading, election.gate), metrics.writes);
  const instance = options.podName ?? hostname();
  const events = new EventRecorder({ client, component: COMPONENT, instance, logger, metrics: metrics.events });

  const caches = createCaches(process);
  const unmeasured = new UnmeasuredNodes({ client: reading, clock: systemClock, nodes: caches.nodes.lister });
  const measurement = createMeasurement(process, client, events, unmeasured);
  const feed = createFeed(process, caches.nodes, measurement);
  const writers = { client, events, isLeader: () => election.gate.isLeader };
  const watches = createWatches(process, { ...caches, unmeasured }, { feed, measurement }, writers);
  started.push(
    () => watches.enqueueAll(),
    () => measurement.enqueueAll(),
  );

  const manager = new Manager(logger);
  manager.add(
    ...(await createServers(process, manager, reading)),
    cachePart(caches.watches),
    cachePart(caches.nodes),
    optionalCachePart(caches.deployments),
    optionalCachePart(caches.failedPods),
    ...measurement.informers.map(optionalCachePart),
    ...election.parts,
    { name: 'feed', stage: 'work', run: (stop) => feed.run(stop) },
    ...watches.controllers.map(controllerPart),
    { name: 'crd check', stage: 'work', run: (stop) => watches.crd.run(stop) },
    controllerPart(measurement.controller),
  );
  try {
    await manager.run(signal);
  } finally {
    await transport.close();
  }
}
