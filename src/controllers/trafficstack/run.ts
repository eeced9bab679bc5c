import { TRAFFIC_STACKS, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { measurableNodes } from '../../nodes/nodeAffinity.ts';
import { askValuesOf } from '../../prometheus/askValues.ts';
import { Applier } from '../../runtime/apply/apply.ts';
import { createOverlay, type Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { NotLeaderError, RetryError, WaitingError } from '../../runtime/client/errors.ts';
import { keyOf, type Resource } from '../../runtime/client/resource.ts';
import { Controller, type ReconcileResult } from '../../runtime/controller/controller.ts';
import { PacedQueue } from '../../runtime/controller/workqueue.ts';
import { controllerPart, optionalCachePart, readyWithoutCrd } from '../../runtime/manager/manager.ts';
import { seriesBudgets } from '../../runtime/manager/seriesBudget.ts';
import { idOf } from '../../runtime/objectSet/objectSet.ts';
import type { Part } from '../../runtime/process/part.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { ControllerContext } from '../contract/context.ts';
import { DEFAULT_STACK } from '../contract/stackOwnership.ts';
import type { RunningController } from '../contract/module.ts';
import { type Writers, limitWrites } from './act/act.ts';
import { createDefaultStack, createFoundNamer } from './act/defaultStack.ts';
import { Renderings } from './desired.ts';
import { createTrafficStackMetrics } from './metrics.ts';
import { userStackProblem } from './model/allowed.ts';
import { FIELD_MANAGER } from './names.ts';
import { AnswerFeed, queriesOf } from './observe/answerFeed.ts';
import { createCaches, mayBeMissing, type Caches } from './observe/caches.ts';
import { EventReader, PodReader } from './observe/evidence.ts';
import { FirstSeen } from './observe/firstSeen.ts';
import { createForeignObjects, type ForeignObjects } from './observe/foreignObjects.ts';
import { NodeListeners, ServerProbes } from './observe/probes.ts';
import { RecentCalls } from './observe/recentCalls.ts';
import { reconcile, type Dependencies } from './reconcile.ts';
import { objectsByName, ownTypesOf } from './render/builtIn.ts';
import { countNodesWith, enqueueOnEvents } from './watches.ts';

/** Stacks are independent and mostly wait for the API server: hanging writes of one must not delay the others. */
const WORKERS = 16;
/** Writes in flight, of all stacks: the transport sends 16 calls at once. */
const WRITES_AT_ONCE = 12;

/** Flags about stacks. */
interface StackOptions {
  /** The namespace of the operator. */
  readonly namespace: string;
  /** Further namespaces for objects of stacks. Empty: every namespace. */
  readonly namespaces: readonly string[];
  /** The kinds that components of the type Objects may have. */
  readonly objectKinds: readonly Resource[];
  /** True if users may have stacks. Otherwise only the stack `default` runs, with the types that the operator deploys by itself. */
  readonly hasUsers: boolean;
  /** True if the stack `default` is created when it is missing. */
  readonly hasDefault: boolean;
}

/** Connects the controller of TrafficStacks with what it observes. */
export function runStacks(context: ControllerContext, options: StackOptions): RunningController {
  const { client, events, isLeader, nodes, prometheus, metrics, clock, logger, builtIns } = context;
  const { namespace, hasUsers, hasDefault, objectKinds } = options;
  const { informer: cache, active } = context.stacks;
  const stacks = createOverlay(cache, { clock });
  const named = hasUsers ? undefined : { namespace, members: objectsByName(builtIns) };
  const caches = createCaches(context, named, objectKinds);
  const answers = new AnswerFeed({
    ...{ ask: askValuesOf(prometheus), clock, isLeader },
    queries: () => queriesOf(active(cache.lister.list())),
    onChange: (name) => controller.queue.add(name),
  });
  // The controller exists before the first event.
  const paced = new PacedQueue({ addAfter: (name, ms) => controller.queue.addAfter(name, ms) }, clock);
  const foreignObjects = createForeignObjects(context, paced);
  const dependencies = dependenciesOf(context, options, { stacks, caches, answers, foreignObjects });
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
  enqueueOnEvents({ cache, stacks, caches, nodes, queue: controller.queue, paced });
  const addDefault = (): void => {
    if (hasDefault) controller.queue.add(DEFAULT_STACK);
  };
  addDefault();
  return {
    parts: [...partsOf({ caches, answers, foreignObjects }), controllerPart(controller)],
    enqueueAll() {
      for (const stack of cache.lister.list()) controller.queue.add(keyOf(stack));
      addDefault();
    },
  };
}

interface Sources {
  readonly stacks: Overlay<TrafficStack>;
  readonly caches: Caches;
  readonly answers: AnswerFeed;
  readonly foreignObjects: ForeignObjects;
}

function dependenciesOf(
  context: ControllerContext,
  { namespace, namespaces, hasUsers, objectKinds }: StackOptions,
  { stacks, caches, ...sources }: Sources,
): Dependencies {
  const { client, events, isLeader, nodes, metrics, clock, builtIns } = context;
  const writer = limitWrites(client, WRITES_AT_ONCE);
  const ownTypes = ownTypesOf(builtIns);
  const allNodes = () => nodes.lister.list();
  return {
    ...{ client, caches, ...sources, stacks, events, clock, isLeader, nodes: nodes.lister },
    allowed: {
      own: namespace,
      namespaces,
      byName: new Set(objectsByName(builtIns).map(idOf)),
      isByNameOnly: !hasUsers,
    },
    refusalOf: (stack) => (hasUsers ? undefined : userStackProblem(stack, ownTypes)),
    podReader: new PodReader({ client, clock }),
    // Without stacks of users, the right is limited to the own namespace.
    eventReader: new EventReader({ client, clock, only: hasUsers ? undefined : namespace }),
    probes: new ServerProbes({ clock, nodes: allNodes }),
    measurable: (placement) => measurableNodes(allNodes(), placement).length,
    listeners: new NodeListeners({ clock, nodes: allNodes }),
    nameFound: createFoundNamer({ client, stacks, events, clock }),
    firstSeen: new FirstSeen(clock),
    writers: {
      ...{ client: writer, applierOf: appliersOf(context, writer), caches, clock, events },
      applying: new Set(),
      deletions: new RecentCalls(clock),
    },
    statuses: new StatusWriter({ client, resource: TRAFFIC_STACKS, fieldManager: FIELD_MANAGER, objects: stacks }),
    metrics: createTrafficStackMetrics(metrics.registry, seriesBudgets(context)),
    renderings: new Renderings({ countNodes: (labels) => countNodesWith(allNodes(), labels), builtIns, objectKinds }),
  };
}

/** Returns the caches, and the loops that send queries and end watches. */
function partsOf({ caches, answers, foreignObjects }: Omit<Sources, 'stacks'>): Part[] {
  const kinds = caches.kinds.map(({ informer, resource }) =>
    mayBeMissing(resource) ? readyWithoutCrd(optionalCachePart(informer), informer) : optionalCachePart(informer),
  );
  return [
    ...[...kinds, optionalCachePart(caches.pods)],
    { name: 'queries of TrafficStacks', stage: 'work', run: (stop) => answers.run(stop) },
    { name: 'watches of TrafficStacks', stage: 'work', run: (stop) => foreignObjects.run(stop) },
  ];
}

/** Creates an applier for each field manager of stacks. */
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

/** ms until a failed creation of the stack `default` is tried again. */
const RETRY_MS = 30_000;

/**
 * Reconciles the stack `default` also if it cannot be made as the flags say.
 *
 * @throws what `make` throws, after that
 */
export async function reconcileDefault(
  make: () => Promise<void>,
  reconcileIt: () => Promise<ReconcileResult | undefined>,
): Promise<ReconcileResult | undefined> {
  const failure = await make().then(() => undefined, asError);
  const result = await reconcileIt();
  if (failure === undefined) return result;
  if (failure instanceof WaitingError || failure instanceof NotLeaderError) throw failure;
  const { requeueAfterMs = RETRY_MS } = result ?? {};
  const message = `the TrafficStack default cannot be made: ${failure.message}`;
  throw new RetryError(message, Math.min(requeueAfterMs, RETRY_MS), { cause: failure });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
