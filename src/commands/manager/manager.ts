import type { ControllerContext, StackSource } from '../../controllers/contract/context.ts';
import { MeasuringState } from '../../controllers/contract/measuring.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
import { withUserLabels } from '../../controllers/contract/userLabels.ts';
import { FIELD_MANAGER } from '../../controllers/trafficwatch/names.ts';
import { askingOnlyTrusted } from '../../controllers/measurement/observe/ownPrometheus.ts';
import {
  createPrometheus,
  createStacks,
  trustedNamespaces,
  usedServerOf,
} from '../../controllers/measurement/observe/queriedPrometheus.ts';
import { trimNode, type CachedNode } from '../../nodes/cachedNode.ts';
import { createNodeInformer, knownNodes } from '../../nodes/informer.ts';
import { UnmeasuredNodes } from '../../nodes/unmeasuredNodes.ts';
import type { PrometheusClient } from '../../prometheus/prometheusClient.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import { createClient, type Client } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { cachePart, Manager, optionalCachePart, readyWithoutCrd } from '../../runtime/manager/manager.ts';
import type { Part } from '../../runtime/process/part.ts';
import { createMetrics, createRegistry } from '../../runtime/manager/metrics.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { createUsageFeed, type UsageFeed } from '../../usage/pass/feed.ts';
import { createUsageMetrics } from '../../usage/pass/metrics.ts';
import { createElection, type Election, createLeaderClient, OPERATOR_COMPONENT, LEASE_NAME } from '../election.ts';
import { createServers } from '../servers.ts';
import type { ManagerOptions, Process } from './options.ts';
import type { UsageQuery } from '../../usage/pass/queries.ts';

function createNodes(
  { transport, metrics, logger }: Process,
  trim: ControllerContext['trimNode'],
): Informer<CachedNode> {
  return createNodeInformer({
    transport,
    logger,
    metrics: metrics.reflector,
    trim,
  });
}

/** Without the CRD of TrafficStacks, the operator deploys nothing, and goes on to watch nodes: MetricsAvailable names the CRD. */
function stacksPart({ informer }: StackSource, { flags }: ManagerOptions): Part {
  const part = optionalCachePart(informer);
  return flags.stacks ? part : readyWithoutCrd(part, informer);
}

function createFeed(
  { options, metrics, logger }: Process,
  nodes: Informer<CachedNode>,
  client: PrometheusClient,
  running: Running,
): UsageFeed {
  return createUsageFeed({
    endpoint: options.endpoint,
    client,
    query: usageQuery(options, running),
    intervalMs: options.intervalMs,
    nodes: knownNodes(nodes),
    clock: systemClock,
    logger,
    metrics: createUsageMetrics(metrics.registry),
  });
}

/** Creates the context that the controllers share. Their client rejects writes while this replica does not lead. */
function createContext(
  process: Process,
  election: Election,
  { reading, controllers }: { readonly reading: Client; readonly controllers: readonly ControllerModule[] },
): ControllerContext {
  const { options, transport, metrics, logger } = process;
  const measuring = new MeasuringState();
  const trim = trimNode(FIELD_MANAGER, options);
  const nodes = createNodes(process, trim);
  const stacks = createStacks(process, options.flags);
  const { endpoint, hasOwnPrometheus: isOwn } = options;
  const used = usedServerOf(isOwn ? stacks : undefined);
  const prometheus = createPrometheus({ endpoint, isOwn, foreign: () => measuring.foreignServer(), used });
  return {
    ...createLeaderClient({
      reading,
      election,
      component: OPERATOR_COMPONENT,
      podName: options.podName,
      metrics,
      logger,
    }),
    transport,
    nodes,
    trimNode: trim,
    stacks,
    builtIns: controllers
      .flatMap(({ builtIns }) => builtIns?.(options.flags) ?? [])
      .map((builtIn) => withUserLabels(builtIn, options.flags)),
    unmeasured: new UnmeasuredNodes({
      client: reading,
      clock: systemClock,
      nodes: nodes.lister,
      exporter: () => measuring.exporterPlacement(),
    }),
    feed: createFeed(process, nodes, prometheus, {
      usedUrl: () => used()?.url,
      scrapeIntervalSeconds: () => measuring.scrapeIntervalSeconds(),
    }),
    prometheus: askingOnlyTrusted(prometheus, used, trustedNamespaces(options.flags)),
    measuring,
    podName: options.podName,
    metrics,
    clock: systemClock,
    logger,
  };
}

function createProcess(options: ManagerOptions): Process {
  const { kubeConfig, logger } = options;
  const metrics = createMetrics(createRegistry(), 'manager');
  return { options, metrics, logger, transport: createTransport({ kubeConfig, logger, metrics: metrics.transport }) };
}

/**
 * Runs the controllers and what they share. Every replica runs all of it, so that the caches, passes and decisions of a
 * standby are current when it is elected.
 *
 * @throws UsageError if a certificate cannot be read; Error if a part ended before the signal
 */
export async function runManager(
  options: ManagerOptions,
  controllers: readonly ControllerModule[],
  signal: AbortSignal,
): Promise<void> {
  const process = createProcess(options);
  const { transport, metrics, logger } = process;
  const { healthAddress, metricsServer } = options;
  const reading = createClient(transport);
  const started: (() => void)[] = [];
  const lease = options.leaderElect ? { namespace: options.namespace, name: LEASE_NAME } : undefined;
  const election = createElection({ ...process, lease, podName: options.podName }, () =>
    started.forEach((enqueueAll) => enqueueAll()),
  );
  const context = createContext(process, election, { reading, controllers });
  const running = controllers.flatMap((controller) => controller.create?.(context, options.flags) ?? []);
  started.push(() => running.forEach((controller) => controller.enqueueAll()));

  const manager = new Manager(logger);
  manager.add(
    ...(await createServers({ healthAddress, metricsServer, metrics, logger }, manager, reading)),
    cachePart(context.nodes),
    stacksPart(context.stacks, options),
    ...election.parts,
    { name: 'feed', stage: 'work', run: (stop) => context.feed.run(stop) },
    ...running.flatMap(({ parts }) => parts),
  );
  try {
    await manager.run(signal);
  } finally {
    await transport.close();
  }
}

/** The Prometheus that runs in the cluster, as far as it is known. */
interface Running {
  /** Returns the URL of the Prometheus that a TrafficStack uses instead of the operator's. */
  readonly usedUrl: () => string | undefined;
  /** Returns the scrape interval of the operator's Prometheus: seconds. A TrafficStack may set a different interval than the flags. */
  readonly scrapeIntervalSeconds: () => number | undefined;
}

/**
 * Returns the settings of each pass:
 *
 * | Prometheus                             | Settings                                          |
 * |----------------------------------------|---------------------------------------------------|
 * | of the operator, scraping as the flags | from the flags                                    |
 * | of the operator, scraping otherwise    | the same, for that scrape interval                |
 * | one that the flags name                | from the flags                                    |
 * | one that a TrafficStack uses           | those for a Prometheus whose interval is not known |
 *
 * It is another object for each Prometheus and each interval, so that nothing of one counts for another.
 */
export function usageQuery(
  { query, queryAt, otherQuery }: Pick<ManagerOptions, 'query' | 'queryAt' | 'otherQuery'>,
  { usedUrl, scrapeIntervalSeconds }: Running,
): () => UsageQuery {
  const other = lastOf<string, UsageQuery>(() => ({ ...otherQuery }));
  const own = lastOf(queryAt);
  return () => {
    const url = usedUrl();
    if (url !== undefined) return other(url);
    // Without it, the flags name a Prometheus, and the operator deploys none.
    if (query.scrapeIntervalSeconds === undefined) return query;
    const seconds = scrapeIntervalSeconds() ?? query.scrapeIntervalSeconds;
    return seconds === query.scrapeIntervalSeconds ? query : own(seconds);
  };
}

/** Calls a function again only for another key than last time. */
function lastOf<K, V>(make: (key: K) => V): (key: K) => V {
  let last: { readonly key: K; readonly value: V } | undefined;
  return (key) => {
    if (last === undefined || last.key !== key) last = { key, value: make(key) };
    return last.value;
  };
}
