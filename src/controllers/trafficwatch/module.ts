import { trafficWatchResource } from '../../api/trafficwatch/schema.ts';
import { createInformer } from '../../runtime/cache/informer.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import { cachePart, controllerPart, optionalCachePart } from '../../runtime/manager/manager.ts';
import type { ControllerContext } from '../contract/context.ts';
import { defineController } from '../contract/module.ts';
import { createFailedPodInformer } from './act/rejectedPods.ts';
import { cleanUp } from './cleanup.ts';
import { createTrafficWatchControllers } from './controller.ts';
import { MANAGED_BY } from './decide/deployment/deployment.ts';
import { withScalersOnly } from './decide/deployment/replicas.ts';
import { createTrafficWatchMetrics } from './metrics.ts';
import { createTrafficWatchInformer } from './observe/informer.ts';
import { createWaitingPodInformer, WaitingPods } from './observe/workload/waitingPods.ts';
import { trafficWatchRights } from './rbac.ts';

function createCaches({ transport, metrics, logger }: ControllerContext) {
  const common = { transport, logger, metrics: metrics.reflector };
  const labelSelector = Object.entries(MANAGED_BY)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  return {
    watches: createTrafficWatchInformer(common),
    deployments: createInformer({ ...common, resource: DEPLOYMENTS, labelSelector, transform: withScalersOnly }),
    failedPods: createFailedPodInformer(common),
  };
}

/** Starts to watch only when asked for pods, so it is no part of what must be ready. */
function createWaitingPods({ transport, metrics, logger, clock }: ControllerContext): WaitingPods {
  const create = () => createWaitingPodInformer({ transport, logger, metrics: metrics.reflector });
  return new WaitingPods({ create, clock });
}

/** The controller of TrafficWatches: decides which nodes are fit, labels them, and applies the Deployments. */
export const trafficWatch = defineController({
  name: 'trafficwatch',
  kinds: [trafficWatchResource],
  flags: {},
  rights: trafficWatchRights,
  registerMetrics: createTrafficWatchMetrics,
  create(context) {
    const { measuring, metrics } = context;
    const caches = createCaches(context);
    const waitingPods = createWaitingPods(context);
    const watches = createTrafficWatchControllers({
      ...context,
      ...caches,
      waitingPods,
      measurementProblems: () => measuring.problems(),
      registry: metrics.registry,
      metrics: metrics.controller,
    });
    return {
      parts: [
        cachePart(caches.watches),
        optionalCachePart(caches.deployments),
        optionalCachePart(caches.failedPods),
        { name: 'pods that wait for a node', stage: 'cache', run: (stop) => waitingPods.run(stop) },
        ...watches.controllers.map(controllerPart),
        { name: 'crd check', stage: 'work', run: (stop) => watches.crd.run(stop) },
      ],
      enqueueAll: () => watches.enqueueAll(),
    };
  },
  async cleanUp(context) {
    await cleanUp(context);
  },
});
