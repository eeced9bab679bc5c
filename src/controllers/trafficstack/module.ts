import { trafficStackResource } from '../../api/trafficstack/schema.ts';
import { TRAFFIC_STACKS, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import { createInformer, withoutManagedFields, type InformerEvent } from '../../runtime/cache/informer.ts';
import { createOverlay } from '../../runtime/cache/overlay.ts';
import { keyOf, type KubeObject } from '../../runtime/client/resource.ts';
import { Controller } from '../../runtime/controller/controller.ts';
import { sameSpec } from '../../runtime/controller/sameSpec.ts';
import { controllerPart, optionalCachePart } from '../../runtime/manager/manager.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { ControllerContext } from '../contract/context.ts';
import { defineController, type RunningController } from '../contract/module.ts';
import { cleanUp } from './cleanup.ts';
import { TRAFFIC_STACK_FLAGS } from './flags.ts';
import { FIELD_MANAGER, STACK_LABEL } from './names.ts';
import { createCaches } from './observe/caches.ts';
import { trafficStackRights } from './rbac.ts';
import { reconcile } from './reconcile.ts';

const NOT_RUNNING: RunningController = { parts: [], enqueueAll: () => undefined };

/** The controller of TrafficStacks: brings components up in the order of their dependencies. */
export const trafficStack = defineController({
  name: 'trafficstack',
  kinds: [trafficStackResource],
  flags: TRAFFIC_STACK_FLAGS,
  rights: trafficStackRights,
  registerMetrics: () => undefined,
  create: (context, { stacks }) => (stacks ? run(context) : NOT_RUNNING),
  cleanUp,
});

function run(context: ControllerContext): RunningController {
  const { client, transport, events, isLeader, metrics, clock, logger } = context;
  const cache = createInformer<TrafficStack>({
    ...{ transport, logger, metrics: metrics.reflector },
    resource: TRAFFIC_STACKS,
    transform: withoutManagedFields,
  });
  const stacks = createOverlay(cache, { clock });
  const caches = createCaches(context);
  const applier = new Applier({ client, fieldManager: FIELD_MANAGER, logger, clock });
  const statuses = new StatusWriter({ client, resource: TRAFFIC_STACKS, fieldManager: FIELD_MANAGER, objects: stacks });
  const controller = new Controller({
    name: 'trafficstack',
    reconcile: (key, signal) =>
      reconcile({ client, applier, caches, stacks, statuses, events, clock, isLeader }, key, signal),
    ...{ logger, clock },
    metrics: metrics.controller,
  });
  const enqueueAll = (): void => {
    for (const stack of cache.lister.list()) controller.queue.add(keyOf(stack));
  };
  const enqueueOwner = (event: InformerEvent<KubeObject>): void => {
    const objects = event.type === 'update' && event.old !== undefined ? [event.old, event.object] : [event.object];
    for (const { metadata } of objects) {
      const name = metadata?.labels?.[STACK_LABEL];
      if (name !== undefined && name !== '') controller.queue.add(name);
    }
  };
  cache.subscribe((event) => {
    const isStatusOnly = event.type === 'update' && sameSpec(event.old, event.object);
    if (!isStatusOnly) controller.queue.add(keyOf(event.object));
  });
  for (const { informer } of caches.kinds) informer.subscribe(enqueueOwner);
  caches.pods.subscribe(enqueueOwner);
  const informers = [cache, ...caches.kinds.map(({ informer }) => informer), caches.pods];
  return { parts: [...informers.map(optionalCachePart), controllerPart(controller)], enqueueAll };
}
