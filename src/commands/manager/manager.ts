import type { ControllerContext, StackSource } from '../../controllers/contract/context.ts';
import { MeasuringState } from '../../controllers/contract/measuring.ts';
import type { ControllerModule } from '../../controllers/contract/module.ts';
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
import { createElection, type Election } from '../election.ts';
import { createLeaderClient, OPERATOR_COMPONENT } from '../leaderClient.ts';
import { LEASE_NAME } from '../lease.ts';
import { createServers } from '../servers.ts';
import type { ManagerOptions, Process } from './options.ts';
import { usageQuery, type Running } from './usageQuery.ts';

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

/** What the controllers share. Their client rejects writes while this replica does not lead. */
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
    builtIns: controllers.flatMap(({ builtIns }) => builtIns?.(options.flags) ?? []),
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
