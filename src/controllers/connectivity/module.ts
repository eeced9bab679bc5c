import { agentResource } from '../../api/agent/report.ts';
import { controllerPart, optionalCachePart, unneededCachePart } from '../../runtime/manager/manager.ts';
import { defineController } from '../contract/module.ts';
import { builtInsOf } from './components/builtIns.ts';
import { createConnectivityController } from './controller.ts';
import { CONNECTIVITY_FLAGS, connectivityFlagProblem, deploymentOptions } from './flags.ts';
import { createConnectivityMetrics } from './metrics.ts';
import { connectivityRights } from './rbac.ts';
import { removeConnectivity } from './removeConnectivity.ts';

/** The controller that deploys the server and the agents of the connectivity check. */
export const connectivity = defineController({
  name: 'connectivity',
  kinds: [agentResource],
  flags: CONNECTIVITY_FLAGS,
  flagProblem: connectivityFlagProblem,
  rights: connectivityRights,
  registerMetrics: createConnectivityMetrics,
  builtIns: (flags) => builtInsOf(deploymentOptions(flags)),
  create({ client, transport, stacks, events, podName, metrics, clock, logger }, flags) {
    const { namespace } = flags;
    const running = createConnectivityController({
      client,
      transport,
      stacks,
      options: deploymentOptions(flags),
      pod: podName === undefined ? undefined : { namespace, name: podName },
      recorder: events,
      logger,
      clock,
      metrics: {
        controller: metrics.controller,
        reflector: metrics.reflector,
        connectivity: createConnectivityMetrics(metrics.registry),
      },
    });
    return {
      parts: [
        // Also for what is not to be deployed, the caches run: what was deployed is removed.
        ...running.informers.map((each) =>
          running.isNeeded(each) ? optionalCachePart(each) : unneededCachePart(each),
        ),
        controllerPart(running.controller),
      ],
      enqueueAll: () => running.enqueueAll(),
    };
  },
  async cleanUp({ client, namespace, logger }) {
    await removeConnectivity(client, { namespace, logger });
  },
});
