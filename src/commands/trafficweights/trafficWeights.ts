import type { StackSource } from '../../controllers/contract/context.ts';
import type { RunningController } from '../../controllers/contract/module.ts';
import { askingOnlyTrusted, readForeignServer } from '../../controllers/measurement/observe/ownPrometheus.ts';
import { storedWeights } from '../../controllers/trafficweight/objects/storedWeights.ts';
import { configMapsIn } from '../../controllers/trafficweight/observe/backend/readConfigMap.ts';
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
import type { CommandContext } from '../command.ts';
import { createElection } from '../election.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { createLeaderClient, OPERATOR_COMPONENT, podNameOf } from '../leaderClient.ts';
import { WEIGHTS_LEASE_NAME } from '../lease.ts';
import { prepareLongRun } from '../longRunning.ts';
import { createServers, metricsServerOf } from '../servers.ts';
import type { TrafficWeightsFlags } from './flags.ts';

function stackParts(stacks: StackSource | undefined): Part[] {
  return stacks === undefined ? [] : [readyWithoutCrd(optionalCachePart(stacks.informer), stacks.informer)];
}

/**
 * Runs the controller of TrafficWeights, in a process and with a Lease of its own: only this process needs the rights to DNS records.
 *
 * @throws UsageError if the kubeconfig or a certificate cannot be read; Error if a part ended before the signal
 */
export async function runTrafficWeights(
  flags: TrafficWeightsFlags,
  { env, logger, signal }: CommandContext,
): Promise<void> {
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
