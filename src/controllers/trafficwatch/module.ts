import { getHeapStatistics } from 'node:v8';
import { podPlacementResource } from '../../api/podplacement/schema.ts';
import { trafficWatchResource } from '../../api/trafficwatch/schema.ts';
import { cachePart, controllerPart, optionalCachePart, readyWithoutCrd } from '../../runtime/manager/manager.ts';
import { seriesBudgets } from '../../runtime/manager/seriesBudget.ts';
import type { ControllerContext } from '../contract/context.ts';
import { defineController } from '../contract/module.ts';
import { cleanUp } from './cleanup.ts';
import { createTrafficWatchControllers } from './controller.ts';
import { TRAFFIC_WATCH_FLAGS } from './flags.ts';
import { createTrafficWatchMetrics } from './metrics.ts';
import {
  createDeploymentInformer,
  createPodPlacementInformer,
  createTrafficWatchInformer,
} from './observe/informer.ts';
import type { Limits } from './observe/watchLimits.ts';
import { createEndedPodInformer } from './observe/workload/endedPods.ts';
import { createWaitingPodInformer, WaitingPods } from './observe/workload/waitingPods.ts';
import { trafficWatchRights } from './rbac.ts';
import { registerWebhookGauge } from './webhookGauge.ts';

function createCaches({ transport, metrics, logger }: ControllerContext, withDeployments: boolean) {
  const common = { transport, logger, metrics: metrics.reflector };
  return {
    watches: createTrafficWatchInformer(common),
    placements: createPodPlacementInformer(common),
    deployments: withDeployments ? createDeploymentInformer(common) : undefined,
    endedPods: createEndedPodInformer(common),
  };
}

/** Starts to watch only when asked for pods, so it is no part of what must be ready. */
function createWaitingPods({ transport, metrics, logger, clock }: ControllerContext): WaitingPods {
  const create = () => createWaitingPodInformer({ transport, logger, metrics: metrics.reflector });
  return new WaitingPods({ create, clock });
}

/** The flags that limit TrafficWatches. */
type Most = Record<'mostWatchesPerNamespace' | 'mostWatches' | 'mostReadingsPerNamespace' | 'mostReadings', number>;

function limitsOf(most: Most): Limits {
  return {
    perNamespace: most.mostWatchesPerNamespace,
    inCluster: most.mostWatches,
    readings: { perNamespace: most.mostReadingsPerNamespace, inCluster: most.mostReadings },
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}

/** The controller of TrafficWatches: decides which nodes are fit, labels them, and applies the Deployments. */
export const trafficWatch = defineController({
  name: 'trafficwatch',
  kinds: [trafficWatchResource, podPlacementResource],
  flags: TRAFFIC_WATCH_FLAGS,
  rights: trafficWatchRights,
  registerMetrics(registry) {
    createTrafficWatchMetrics(registry);
    registerWebhookGauge(registry);
  },
  create(context, { deployments, deploymentNamespace, ...most }) {
    const { measuring, metrics } = context;
    const limits = limitsOf(most);
    const caches = createCaches(context, deployments);
    const waitingPods = createWaitingPods(context);
    const watches = createTrafficWatchControllers({
      ...context,
      ...caches,
      waitingPods,
      limits,
      allowedDeployments: { enabled: deployments, namespaces: deploymentNamespace },
      measurementProblems: () => measuring.problems(),
      watchMetrics: createTrafficWatchMetrics(metrics.registry, seriesBudgets(context), limits),
      metrics: metrics.controller,
    });
    registerWebhookGauge(metrics.registry, () => watches.webhookReady());
    return {
      parts: [
        cachePart(caches.watches),
        readyWithoutCrd(optionalCachePart(caches.placements), caches.placements),
        ...(caches.deployments === undefined ? [] : [optionalCachePart(caches.deployments)]),
        optionalCachePart(caches.endedPods),
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
