import { agentResource } from '../../api/agent/report.ts';
import { defaultConnectivityOptions } from '../../connectivity/objects/names.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import type { Client } from '../../runtime/client/client.ts';
import { controllerPart, optionalCachePart, unneededCachePart } from '../../runtime/manager/manager.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Problem } from '../../runtime/process/problem.ts';
import { removeSet } from '../contract/deployedSet.ts';
import { defineController } from '../contract/module.ts';
import { builtInsOf } from './components/builtIns.ts';
import { connectivitySet, FIELD_MANAGER } from './components/components.ts';
import { createConnectivityController, createConnectivityMetrics } from './controller.ts';
import { CONNECTIVITY_FLAGS, connectivityFlagProblem, deploymentOptions } from './flags.ts';
import { connectivityRights } from './rbac.ts';

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

/**
 * Removes all objects of this controller, the namespace of the agents last, before the operator itself is removed.
 * ConnectivityChecks stay, the first one too: they are the user's. Stop the operator first: a running operator would
 * create the objects again. Does not wait for the deletions to end.
 *
 * @param namespace the namespace of the operator
 * @returns the objects that were kept, and why
 * @throws ApiError, TransportError
 */
export async function removeConnectivity(
  client: Client,
  { namespace, logger }: { namespace: string; logger: Logger },
): Promise<readonly Problem[]> {
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger });
  return removeSet(connectivitySet(defaultConnectivityOptions(namespace)), { client, applier });
}
