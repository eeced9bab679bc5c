import { PROMETHEUS_FLAGS, processFlagProblem } from '../../controllers/contract/flags.ts';
import { PROCESS_FLAGS } from '../../options/commonFlags.ts';
import { flag, withDefault, type FlagTable, type FlagValues } from '../../options/flagTable.ts';
import { boolean, url } from '../../options/values.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import type { StackSource } from '../../controllers/contract/context.ts';
import type { RunningController } from '../../controllers/contract/module.ts';
import { askingOnlyTrusted, readForeignServer } from '../../controllers/measurement/observe/ownPrometheus.ts';
import { storedWeights } from '../../controllers/trafficweight/weightObjects.ts';
import { configMapsIn } from '../../controllers/trafficweight/observe/backends.ts';
import { runWeights } from '../../controllers/trafficweight/run.ts';
import {
  createPrometheus,
  createStacks,
  endpointOf,
  trimToUses,
  trustedNamespaces,
  usedServerOf,
} from '../../controllers/measurement/observe/queriedPrometheus.ts';
import { askValuesOf } from '../../prometheus/askValues.ts';
import { createClient } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { Manager, optionalCachePart, readyWithoutCrd } from '../../runtime/manager/manager.ts';
import { createMetrics, createRegistry } from '../../runtime/manager/metrics.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import type { Part } from '../../runtime/process/part.ts';
import { createElection, createLeaderClient, OPERATOR_COMPONENT, podNameOf, WEIGHTS_LEASE_NAME } from '../election.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { prepareLongRun } from '../longRunning.ts';
import { createServers, metricsServerOf } from '../servers.ts';

/** The flags of `trafficweights`. */
const TRAFFIC_WEIGHTS_FLAGS = {
  ...PROCESS_FLAGS,
  ...PROMETHEUS_FLAGS,
  weights: withDefault(
    boolean,
    'true',
    'Give the DNS records their weights. With false, the process only answers probes: a Subscription of OLM cannot remove the Deployment.',
  ),
  stacks: withDefault(
    boolean,
    'false',
    'TrafficStacks of users are on. Without --prometheus-url, queries go to the Prometheus that a TrafficStack uses, if one does; with false, only the stack "default" counts.',
  ),
  dynamodbEndpointUrl: flag(url, 'URL of DynamoDB for TrafficWeights, such as the URL of a VPC endpoint.', {
    defaultNote: 'the URL of the region',
  }),
  route53EndpointUrl: flag(url, 'URL of Route 53 for the hosted zones of TrafficWeights.', {
    defaultNote: 'the URL of the partition',
  }),
} as const satisfies FlagTable;

type TrafficWeightsFlags = FlagValues<typeof TRAFFIC_WEIGHTS_FLAGS>;

/** `trafficweights`: gives the DNS records of a cluster their weights, as its TrafficWeights ask for. */
export const trafficWeights: Command = defineCommand<typeof TRAFFIC_WEIGHTS_FLAGS>({
  name: 'trafficweights',
  flags: TRAFFIC_WEIGHTS_FLAGS,
  check: processFlagProblem,
  run: runTrafficWeights,
});

function stackParts(stacks: StackSource | undefined): Part[] {
  return stacks === undefined ? [] : [readyWithoutCrd(optionalCachePart(stacks.informer), stacks.informer)];
}

/**
 * Runs the controller of TrafficWeights, in a process and with a Lease of its own: only this process needs the rights to DNS records.
 *
 * @throws UsageError if the kubeconfig or a certificate cannot be read; Error if a part ended before the signal
 */
async function runTrafficWeights(flags: TrafficWeightsFlags, { env, logger, signal }: CommandContext): Promise<void> {
  prepareLongRun(logger);
  const { namespace, leaderElect, dynamodbEndpointUrl, route53EndpointUrl } = flags;
  const metrics = createMetrics(createRegistry(), flags.weights ? 'weights' : undefined);
  const transport = createTransport({
    kubeConfig: loadKubeConfig(flags.kubeconfig),
    logger,
    metrics: metrics.transport,
  });
  const common = { transport, metrics, logger };
  const podName = podNameOf(env);
  const lease = leaderElect ? { namespace, name: WEIGHTS_LEASE_NAME } : undefined;
  const election = createElection({ ...common, lease, podName }, () => running.enqueueAll());
  const reading = createClient(transport);
  const writing = createLeaderClient({ ...common, reading, election, component: OPERATOR_COMPONENT, podName });
  const context = { ...writing, ...common, clock: systemClock };
  const isOwn = flags.prometheusUrl === undefined;
  // With --prometheus-url no stack chooses the Prometheus, so none is watched.
  const stacks = isOwn ? createStacks(common, flags, trimToUses) : undefined;
  const used = usedServerOf(stacks);
  const prometheus = createPrometheus({
    ...{ endpoint: endpointOf(flags), isOwn, used },
    foreign: () => readForeignServer(reading, namespace),
  });
  const running: RunningController = runWeights(context, {
    ...{ objects: storedWeights(context), dynamodbEndpointUrl, route53EndpointUrl },
    ...{ withNamespaces: true, withRoutes: true },
    sources: {
      ask: askValuesOf(askingOnlyTrusted(prometheus, used, trustedNamespaces(flags))),
      configMap: configMapsIn(namespace, reading),
    },
  });

  const manager = new Manager(logger);
  const servers = { healthAddress: flags.healthProbeBindAddress, metricsServer: metricsServerOf(flags) };
  manager.add(
    ...(await createServers({ ...servers, metrics, logger }, manager, reading)),
    ...(flags.weights ? [...stackParts(stacks), ...election.parts, ...running.parts] : []),
  );
  try {
    await manager.run(signal);
  } finally {
    await transport.close();
  }
}
