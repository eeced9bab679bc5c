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
import { connectivitySet, FIELD_MANAGER, allComponents } from './components/components.ts';
import { CONNECTIVITY_FLAGS, connectivityFlagProblem, deploymentOptions } from './flags.ts';
import { connectivityRights } from './rbac.ts';
import { Gauge, type Registry } from 'prom-client';
import { Controller } from '../../runtime/controller/controller.ts';
import { METRIC_PREFIX } from '../../runtime/manager/metrics.ts';
import { isOff } from '../../runtime/objectSet/plan.ts';
import { watchMembers } from '../../runtime/objectSet/observe.ts';
import { ProblemReport } from '../../runtime/status/problemReport.ts';
import { createStackOwnershipCache } from '../contract/stackOwnershipCache.ts';
import { deployedByFlags, STACK_TYPES, switchedOff } from './decide/stackGroups.ts';
import { createReconcile } from './reconcile.ts';

/** The controller that deploys the server and the agents of the connectivity check. */
export const connectivity = defineController({
  name: 'connectivity',
  kinds: [agentResource],
  flags: CONNECTIVITY_FLAGS,
  flagProblem: connectivityFlagProblem,
  rights: connectivityRights,
  registerMetrics: createProblemGauge,
  builtIns: (flags) => builtInsOf(deploymentOptions(flags)),
  create({ client, transport, events, podName, metrics, clock, logger, ...context }, flags) {
    const { namespace } = flags;
    const options = deploymentOptions(flags);
    const components = allComponents(options);
    let enqueue = (): void => undefined;
    const caches = watchMembers(components, {
      ...{ transport, logger, clock, metrics: metrics.reflector },
      onRefusal: () => enqueue(),
    });
    const stacks = createStackOwnershipCache(context.stacks, STACK_TYPES, components, deployedByFlags(options));
    const problems = createProblemGauge(metrics.registry);
    const report = new ProblemReport({
      ...{ name: 'connectivity', action: 'Deploy', namespace, logger, recorder: events },
      onChange: (count) => problems.set(count),
    });
    const pod = podName === undefined ? undefined : { namespace, name: podName };
    const controller = new Controller({
      name: 'connectivity',
      reconcile: createReconcile({ client, options, pod, logger, caches, stacks, report }),
      ...{ logger, clock, metrics: metrics.controller },
    });
    enqueue = () => controller.queue.add('components');
    for (const informer of caches.informers) informer.subscribe(enqueue);
    stacks.subscribe(enqueue);
    enqueue();
    const off = switchedOff(options);
    return {
      parts: [
        // The caches of objects that are switched off also run: such objects are removed.
        ...caches.informers.map((each) =>
          isOff(off, caches.groupOf(each)) ? unneededCachePart(each) : optionalCachePart(each),
        ),
        controllerPart(controller),
      ],
      enqueueAll() {
        report.tellAgain();
        enqueue();
      },
    };
  },
  async cleanUp({ client, namespace, logger }) {
    await removeConnectivity(client, { namespace, logger });
  },
});

/**
 * Removes all objects of this controller, the namespace of the agents last, before the operator itself is removed.
 * ConnectivityChecks stay, also the first one: they are the user's. Stop the operator first: a running operator would
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

/** Registers the number of present problems. Call once for each registry. */
function createProblemGauge(registry: Registry): Gauge {
  return new Gauge({
    name: `${METRIC_PREFIX}connectivity_deployment_problems`,
    help: 'Problems that keep the server or the agents of the connectivity check from the desired state.',
    registers: [registry],
  });
}
