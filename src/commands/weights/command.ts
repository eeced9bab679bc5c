import type { KubeConfig } from '@kubernetes/client-node';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { WEIGHTS_FLAGS, specProblem, type WeightsFlags, nameOf, specOf } from './flags.ts';
import type { RunningController } from '../../controllers/contract/module.ts';
import { fixedWeight } from '../../controllers/trafficweight/weightObjects.ts';
import type { BackendSources } from '../../controllers/trafficweight/observe/backends.ts';
import { runWeights } from '../../controllers/trafficweight/run.ts';
import { createClient } from '../../runtime/client/client.ts';
import { createTransport } from '../../runtime/client/transport.ts';
import { Manager } from '../../runtime/manager/manager.ts';
import { createMetrics, createRegistry } from '../../runtime/manager/metrics.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { createElection, createLeaderClient, podNameOf } from '../election.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { createServers } from '../servers.ts';

/** `weights`: gives the DNS records of a cluster their weights, as k8s-traffic-controller. */
export const weights: Command = defineCommand<typeof WEIGHTS_FLAGS>({
  name: 'weights',
  flags: WEIGHTS_FLAGS,
  check: specProblem,
  run: runWeightsAlone,
});

/** No flag asks for them. */
const NO_SOURCES: BackendSources = {
  ask: () => Promise.reject(new Error('no flag asks for a measured weight')),
  configMap: () => Promise.reject(new Error('no flag asks for a ConfigMap')),
};

const COMPONENT = 'traffic.example.com/weights';
/** The address that the original uses instead of a load balancer, with --dev-mode. */
const DEV_TARGET = 'devmode';

/**
 * Runs the controller of DNS weights alone, for the one TrafficWeight that the flags describe. It needs no CRD of the
 * operator.
 *
 * @throws UsageError if the kubeconfig cannot be read; Error if a part ended before the signal
 */
async function runWeightsAlone(flags: WeightsFlags, { env, logger, signal }: CommandContext): Promise<void> {
  const spec = specOf(flags);
  const kubeConfig = loadKubeConfig(flags.kubeconfig);
  const metrics = createMetrics(createRegistry(), 'weights');
  const transport = createTransport({ kubeConfig, logger, metrics: metrics.transport });
  const podName = podNameOf(env);
  const lease = flags.enableLeaderElection
    ? { namespace: namespaceOf(flags, kubeConfig), name: flags.leaseName }
    : undefined;
  const election = createElection({ lease, podName, transport, metrics, logger }, () => running.enqueueAll());
  const reading = createClient(transport);
  const writing = createLeaderClient({ reading, election, component: COMPONENT, podName, metrics, logger });
  const running: RunningController = runWeights(
    { ...writing, transport, metrics, clock: systemClock, logger },
    {
      objects: fixedWeight(nameOf(spec), spec, logger),
      dynamodbEndpointUrl: flags.dynamodbEndpointUrl,
      route53EndpointUrl: flags.route53EndpointUrl,
      withNamespaces: false,
      withRoutes: false,
      sources: NO_SOURCES,
      ...(flags.devMode && { target: DEV_TARGET }),
    },
  );

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
