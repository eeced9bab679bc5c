import { TRAFFIC_STACKS, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { CachedNode } from '../../nodes/cachedNode.ts';
import { askValuesOf } from '../../prometheus/askValues.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import { bodyChanged } from '../../runtime/cache/bodyBudget.ts';
import { createOverlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { keyOf, sameSpec } from '../../runtime/client/resource.ts';
import { PODS } from '../../runtime/client/resources.ts';
import { Controller } from '../../runtime/controller/controller.ts';
import { controllerPart, optionalCachePart, readyWithoutCrd } from '../../runtime/manager/manager.ts';
import { seriesBudgets } from '../../runtime/manager/seriesBudget.ts';
import { idOf } from '../../runtime/objectSet/objectSet.ts';
import type { Part } from '../../runtime/process/part.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { ControllerContext } from '../contract/context.ts';
import { DEFAULT_STACK } from '../contract/keepers.ts';
import type { RunningController } from '../contract/module.ts';
import type { Writers } from './act/act.ts';
import { limitWrites } from './act/limitWrites.ts';
import { createDefaultStack } from './act/makeDefaultStack.ts';
import { createFoundNamer } from './act/nameFound.ts';
import { userStackProblem } from './decide/userStacks.ts';
import { PacedQueue } from '../../runtime/controller/workqueue.ts';
import { LabelledEvents } from './labelledEvents.ts';
import { createTrafficStackMetrics } from './metrics.ts';
import { FIELD_MANAGER, STACK_LABEL } from './names.ts';
import { AnswerFeed } from './observe/answers/answerFeed.ts';
import { queriesOf } from './observe/answers/queriesOf.ts';
import { Sightings } from './observe/answers/sightings.ts';
import { createCaches, mayBeMissing, type Caches } from './observe/caches.ts';
import { EventReader } from './observe/events.ts';
import { NodeListeners } from './observe/listening/nodeListeners.ts';
import { measurableNodes } from '../../nodes/nodeAffinity.ts';
import { countNodesWith, countsNodes, mayChangeCount, mayChangePods } from './observe/nodes.ts';
import { PodReader } from './observe/pods.ts';
import { RecentCalls } from './observe/recentCalls.ts';
import { ServerProbes } from './observe/serverProbes.ts';
import { createStrangers } from './observe/strangers/strangers.ts';
import { reconcile, type Dependencies } from './reconcile.ts';
import { objectsByName, ownTypesOf } from './render/builtIn.ts';
import { reconcileDefault } from './reconcileDefault.ts';
import { Renderings } from './renderings.ts';

/** Stacks are independent, and mostly wait for the API server: one whose writes hang must not keep the others. */
const WORKERS = 16;
/** Writes of objects in flight, of all stacks: the transport sends 16 calls at once. */
const WRITES_AT_ONCE = 12;

/** What the flags say about stacks. */
export interface StackOptions {
  /** That of the operator. */
  readonly namespace: string;
  /** Where the objects of stacks may be, besides that. Empty: in every namespace. */
  readonly namespaces: readonly string[];
  /** Whether users may have stacks. Without, only the stack `default` is run, with the types that the operator deploys by itself. */
  readonly hasUsers: boolean;
  /** Whether the stack `default` is created if there is none. */
  readonly hasDefault: boolean;
}

/** Connects the controller of TrafficStacks with what it observes. */
export function runStacks(
  context: ControllerContext,
  { namespace, namespaces, hasUsers, hasDefault }: StackOptions,
): RunningController {
  const { client, events, isLeader, nodes, prometheus, metrics, clock, logger, builtIns } = context;
  const { informer: cache, active } = context.stacks;
  const writer = limitWrites(client, WRITES_AT_ONCE);
  const stacks = createOverlay(cache, { clock });
  const named = objectsByName(builtIns);
  const caches = createCaches(context, hasUsers ? undefined : { namespace, members: named });
  const ownTypes = ownTypesOf(builtIns);
  const answers = new AnswerFeed({
    ...{ ask: askValuesOf(prometheus), clock, isLeader },
    queries: () => queriesOf(active(cache.lister.list())),
    onChange: (name) => controller.queue.add(name),
  });
  // The controller exists before the first event.
  const paced = new PacedQueue({ addAfter: (name, ms) => controller.queue.addAfter(name, ms) }, clock);
  const strangers = createStrangers(context, paced);
  const dependencies: Dependencies = {
    ...{ client, caches, answers, strangers, stacks, events, clock, isLeader, nodes: nodes.lister },
    allowed: { own: namespace, namespaces, byName: new Set(named.map(idOf)), isByNameOnly: !hasUsers },
    refusalOf: (stack) => (hasUsers ? undefined : userStackProblem(stack, ownTypes)),
    podReader: new PodReader({ client, clock }),
    // Without stacks of users, the right is limited to the own namespace.
    eventReader: new EventReader({ client, clock, only: hasUsers ? undefined : namespace }),
    probes: new ServerProbes({ clock, nodes: () => nodes.lister.list() }),
    measurable: (placement) => measurableNodes(nodes.lister.list(), placement).length,
    listeners: new NodeListeners({ clock, nodes: () => nodes.lister.list() }),
    nameFound: createFoundNamer({ client, stacks, events, clock }),
    sightings: new Sightings(clock),
    writers: {
      client: writer,
      applierOf: appliersOf(context, writer),
      caches,
      applying: new Set(),
      deletions: new RecentCalls(clock),
      ...{ clock, events },
    },
    statuses: new StatusWriter({ client, resource: TRAFFIC_STACKS, fieldManager: FIELD_MANAGER, objects: stacks }),
    metrics: createTrafficStackMetrics(metrics.registry, seriesBudgets(context)),
    renderings: new Renderings({
      countNodes: (labels) => countNodesWith(nodes.lister.list(), labels),
      builtIns,
    }),
  };
  const makeDefault = createDefaultStack({ client, cache, stacks, active, builtIns, events });
  const controller = new Controller({
    name: 'trafficstack',
    reconcile(key, signal) {
      const work = () => reconcile(dependencies, key, signal);
      if (!hasDefault || key !== DEFAULT_STACK || !isLeader()) return work();
      return reconcileDefault(makeDefault, work);
    },
    ...{ logger, clock, workers: WORKERS },
    metrics: metrics.controller,
  });
  const enqueue = (which: (stack: TrafficStack) => boolean): void => {
    for (const stack of cache.lister.list()) if (which(stack)) controller.queue.add(keyOf(stack));
  };
  cache.subscribe((event) => {
    const isStatusOnly = event.type === 'update' && sameSpec(event.old, event.object) && !bodyChanged(event);
    if (!isStatusOnly) controller.queue.add(keyOf(event.object));
  });
  const labelled = new LabelledEvents({ queue: controller.queue, paced, stackOf: (name) => stacks.get(name) });
  for (const { informer, resource } of caches.kinds) informer.subscribe((event) => labelled.take(resource, event));
  caches.pods.subscribe((event) => labelled.take(PODS, event));
  nodes.subscribe((event) => {
    if (mayChangeCount(event)) enqueue(countsNodes);
    if (mayChangePods(event)) for (const name of stacksOn(event.object, caches)) controller.queue.add(name);
  });
  const addDefault = (): void => {
    if (hasDefault) controller.queue.add(DEFAULT_STACK);
  };
  addDefault();
  const asking: Part = { name: 'queries of TrafficStacks', stage: 'work', run: (stop) => answers.run(stop) };
  const looking: Part = { name: 'watches of TrafficStacks', stage: 'work', run: (stop) => strangers.run(stop) };
  const kinds = caches.kinds.map(({ informer, resource }) =>
    mayBeMissing(resource) ? readyWithoutCrd(optionalCachePart(informer), informer) : optionalCachePart(informer),
  );
  return {
    parts: [...kinds, optionalCachePart(caches.pods), asking, looking, controllerPart(controller)],
    enqueueAll() {
      enqueue(() => true);
      addDefault();
    },
  };
}

/** An applier for each field manager that objects of stacks have. */
function appliersOf({ builtIns, logger, clock }: ControllerContext, client: Client): Writers['applierOf'] {
  const managers = new Set([FIELD_MANAGER, ...builtIns.flatMap(({ fieldManager }) => fieldManager ?? [])]);
  const appliers = new Map(
    [...managers].map((fieldManager) => [fieldManager, new Applier({ client, fieldManager, logger, clock })]),
  );
  return ({ fieldManager = FIELD_MANAGER }) => {
    const found = appliers.get(fieldManager);
    if (found === undefined) throw new Error(`nobody applies as ${fieldManager}`);
    return found;
  };
}

/** The names of the stacks that have pods on a node. */
function stacksOn({ name }: CachedNode, { pods }: Pick<Caches, 'pods'>): string[] {
  const here = pods.lister.list().filter(({ nodeName }) => nodeName === name);
  return here.flatMap(({ metadata }) => metadata?.labels?.[STACK_LABEL] ?? []);
}
