import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import { fixedWeight } from '../../controllers/trafficweight/objects/fixedWeight.ts';
import { runWeights } from '../../controllers/trafficweight/run.ts';
import { createClient, leaderOnly } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { countingWrites } from '../../runtime/client/writeCount.ts';
import { EventRecorder } from '../../runtime/controller/events.ts';
import { Manager } from '../../runtime/manager/manager.ts';
import { createMetrics, createRegistry } from '../../runtime/manager/metrics.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import type { CommandContext } from '../command.ts';
import { createElection } from '../election.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { createServers } from '../servers.ts';
import type { WeightsFlags } from './flags.ts';
import { nameOf, specOf } from './spec.ts';

const COMPONENT = 'traffic.example.com/weights';
/** What the original has in place of a load balancer, with --dev-mode. */
const DEV_TARGET = 'devmode';

/**
 * Runs the controller of DNS weights alone, for the one TrafficWeight that the flags describe. It needs no CRD of the
 * operator.
 *
 * @throws UsageError if the kubeconfig cannot be read; Error if a part ended before the signal
 */
export async function runWeightsAlone(flags: WeightsFlags, { env, logger, signal }: CommandContext): Promise<void> {
  const spec = specOf(flags);
  const kubeConfig = loadKubeConfig(flags.kubeconfig);
  const metrics = createMetrics(createRegistry());
  const transport = createTransport({ kubeConfig, logger, metrics: metrics.transport });
  const podName = env.POD_NAME === '' ? undefined : env.POD_NAME;
  const lease = flags.enableLeaderElection
    ? { namespace: namespaceOf(flags, kubeConfig), name: flags.leaseName }
    : undefined;
  const started: (() => void)[] = [];
  const election = createElection({ lease, podName, transport, metrics, logger }, () =>
    started.forEach((enqueueAll) => enqueueAll()),
  );
  const reading = createClient(transport);
  const client = countingWrites(leaderOnly(reading, election.gate), metrics.writes);
  const instance = podName ?? hostname();
  const events = new EventRecorder({ client, component: COMPONENT, instance, logger, metrics: metrics.events });
  const isLeader = (): boolean => election.gate.isLeader;
  const running = runWeights(
    { client, transport, events, isLeader, metrics, clock: systemClock, logger },
    {
      objects: fixedWeight(nameOf(spec), spec, logger),
      dynamodbEndpointUrl: flags.dynamodbEndpointUrl,
      withNamespaces: false,
      ask: () => Promise.reject(new Error('no flag asks for a measured weight')),
      ...(flags.devMode && { target: DEV_TARGET }),
    },
  );
  started.push(() => running.enqueueAll());

  const manager = new Manager(logger);
  const { metricsAddr, healthProbeBindAddress: healthAddress } = flags;
  const metricsServer = metricsAddr === 'off' ? undefined : { address: metricsAddr, secure: undefined };
  manager.add(
    ...(await createServers({ healthAddress, metricsServer, metrics, logger }, manager, reading)),
    ...election.parts,
    ...running.parts,
  );
  try {
    await manager.run(signal);
  } finally {
    await transport.close();
  }
}

/** client-node takes it from the ServiceAccount's files in a pod. */
function namespaceOf({ namespace }: WeightsFlags, kubeConfig: KubeConfig): string {
  return namespace ?? kubeConfig.getContextObject(kubeConfig.currentContext)?.namespace ?? 'default';
}
