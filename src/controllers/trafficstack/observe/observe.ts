import { durationMs } from '../../../api/fieldSchemas.ts';
import { DEFAULT_DEADLINE, type ComponentType } from '../../../api/trafficstack/terms.ts';
import type {
  ComponentSpec,
  InventoryEntry,
  InventoryObject,
  TrafficStack,
  UpgradeSpec,
} from '../../../api/trafficstack/trafficStack.ts';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../runtime/apply/apply.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { Lister } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf, type KubeObject, type ObjectRef } from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { forEachAtOnce } from '../../../runtime/async/limit.ts';
import { idFor, idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import { mayWrite, type AllowedNamespaces } from '../model/allowed.ts';
import { usesOf } from '../decide/present/external.ts';
import type { StackPlan } from '../decide/plan.ts';
import { isMadeBy } from '../decide/removal/madeBy.ts';
import { namedExternal } from '../model/choice.ts';
import type { Target } from '../model/target.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { isWorkload, resourceOfKind } from '../render/kinds.ts';
import { isOfStack, mustBeReplaced, refersTo, type DesiredObject } from '../render/objects.ts';
import { BY_COMPONENT, isCached, overlayOf, type Caches } from './caches.ts';
import type { AnswerFeed } from './answers/answerFeed.ts';
import type { Sightings } from './answers/sightings.ts';
import { COMPONENT_LABEL } from '../names.ts';
import { withLostNodes } from './nodes.ts';
import type { LeftObject, Observation, ObservedComponent, ObservedObject, StackPod } from './observation.ts';
import { podIndexOf } from './stackPod.ts';
import type { Seeking, Sources } from './standIn/found.ts';
import { observeStandIn } from './standIn/standIn.ts';
import type { NodeListeners } from './listening/nodeListeners.ts';
import type { ServerProbes } from './serverProbes.ts';
import type { Look } from './strangers/strangers.ts';

/** A new stack may have hundreds of objects, and its status is written after them. */
const READS_AT_ONCE = 8;

/** What a stack should be. */
export interface Wanted {
  /** In the order of their dependencies. */
  readonly components: readonly Target[];
  readonly upgrade: UpgradeSpec;
}

/** Where it is observed. */
export interface Observed {
  readonly caches: Caches;
  readonly allowed: AllowedNamespaces;
  /** Whole Nodes. */
  readonly nodes: Pick<Lister<CachedNode>, 'get'>;
  readonly client: Client;
  readonly strangers: Pick<Look, 'read' | 'list'>;
  readonly probes: Pick<ServerProbes, 'proof'>;
  readonly listeners: Pick<NodeListeners, 'ask'>;
  /** The number of nodes that can be measured. */
  readonly measurable: Sources['measurable'];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Of the queries that decide whether a component is ready, and may be changed. */
  readonly answers: Pick<AnswerFeed, 'answer'>;
  readonly sightings: Pick<Sightings, 'of'>;
}

/**
 * Observes what decides about a stack, in the caches.
 *
 * @param now ms since 1970
 * @throws ApiError, TransportError
 */
export async function observe(
  stack: TrafficStack,
  { components, upgrade: { query } }: Wanted,
  observed: Observed,
  now: number,
): Promise<Observation> {
  const { caches, client, answers, allowed } = observed;
  const found = await observeComponents(stack, components, { ...observed, now });
  const entries = (stack.status?.inventory ?? []).filter((entry) => !isGivenUp(entry, stack, caches));
  const pods = entries.map(({ component, objects: all }) => {
    // The pods of what the operator may not delete do not end.
    const objects = all.filter(({ kind, ...ref }) => mayWrite(memberOf(kind, ref), allowed));
    const namespaces = [...new Set(objects.map(({ namespace }) => namespace))];
    const pods = namespaces.flatMap((namespace) => podsOf(stack, component, namespace, observed));
    // Somebody may have copied a workload with its labels.
    return [component, pods.filter((pod) => objects.some((ref) => isMadeBy(pod, ref)))] as const;
  });
  const left = Object.groupBy(await leftOf(stack, found, { caches, client }), ({ resource, live: object }) =>
    mayWrite({ resource, object }, allowed) ? 'removable' : 'locked',
  );
  return {
    ...{ stack, components: found, now, seen: observed.sightings.of(stack.metadata?.name ?? '') },
    ...(query !== undefined && { gate: { query, answer: answers.answer(query) } }),
    ...{ left: left.removable ?? [], locked: (left.locked ?? []).filter(({ live }) => refersTo(live, stack)) },
    unread: unreadOf(stack, caches),
    withPods: new Map(pods.filter(([, each]) => each.length > 0)),
  };
}

function memberOf(kind: string, metadata: ObjectRef): Member {
  return { resource: resourceOfKind(kind), object: { metadata } };
}

/** Whether the workload of an entry is not of the stack any more, as after `--cascade=orphan`: nor are its pods. */
function isGivenUp({ objects }: InventoryEntry, stack: TrafficStack, caches: Caches): boolean {
  return objects.some((ref) => {
    const { kind, namespace, name } = ref;
    const resource = resourceOfKind(kind);
    if (!isWorkload(resource) || !isCached(caches, ref)) return false;
    const live = cachedIn(caches, { resource, object: { metadata: { namespace, name } } });
    return live !== undefined && !isWithoutBody(live) && !isOfStack(live, stack);
  });
}

/** @property now ms since 1970 */
type Where = Omit<Observed, 'client'> & { readonly now: number };

/** In their order. Servers of somebody else are observed first: what is looked for beside them depends on whether they are used. */
async function observeComponents(
  stack: TrafficStack,
  components: readonly Target[],
  where: Where,
): Promise<ObservedComponent[]> {
  const found = new Map<Target, ObservedComponent>();
  const used = new Set<ComponentType>();
  const isServer = ({ standIn }: Target): boolean => standIn?.probe !== undefined;
  for (const target of [...components.filter(isServer), ...components.filter((each) => !isServer(each))]) {
    const component = await observeComponent(stack, target, { ...where, used });
    found.set(target, component);
    if (usesOf(component).uses !== undefined) used.add(target.spec.type);
  }
  return components.flatMap((target) => found.get(target) ?? []);
}

async function observeComponent(
  stack: TrafficStack,
  { objects: desiredObjects, standIn, waitsFor, ...target }: Target,
  {
    caches,
    nodes,
    strangers,
    probes,
    listeners,
    answers,
    used,
    ...where
  }: Where & { readonly used: ReadonlySet<ComponentType> },
): Promise<ObservedComponent> {
  const { name, mode, ready = {}, workload } = target.spec;
  const answer = ready.query === undefined ? undefined : answers.answer(ready.query);
  const own = desiredObjects.at(-1);
  // One object of several may have been deleted by somebody: what is left of it, or is in the inventory, is the stack's.
  const isOwn =
    own !== undefined &&
    (desiredObjects.some((each) => cachedIn(caches, each) !== undefined) || isInInventory(stack, name));
  const prior = stack.status?.components?.find((each) => each.name === name);
  const named = namedExternal(target.spec, prior);
  const seeking = { standIn, mode, own, named, used, now: where.now, ...patienceOf(stack, target.spec, where) };
  const sources = { strangers, probes, listeners, measurable: where.measurable };
  const found = isOwn ? undefined : await observeStandIn(seeking, sources);
  if (found?.external !== undefined) return { ...target, ...found, pods: [], ...(answer && { answer }) };
  const maybeExternal = standIn === undefined && (mode === 'External' || mode === 'Auto');
  const objects: ObservedObject[] = [];
  for (const desired of desiredObjects) {
    const cached = cachedIn(caches, desired);
    // An object of somebody else has no label of a stack, so it is in no cache.
    const isElsewhere = maybeExternal || cached !== undefined;
    const live = wholeOf(cached) ?? (isElsewhere ? await strangers.read(desired) : undefined);
    objects.push(withLive({ ...desired, hash: appliedHash(desired.object) }, live, { name, stack }));
  }
  const awaits = await waitsFor?.();
  return {
    ...{ ...target, objects },
    ...(awaits !== undefined && { awaits }),
    ...(found?.unproven !== undefined && { unproven: found.unproven }),
    ...(answer && { answer }),
    ...(workload === undefined
      ? { pods: [], arePodsRead: false }
      : { pods: podsOf(stack, name, workload.namespace, { caches, nodes }) }),
  };
}

/** How long a component waits for a found object to start, and whether it has waited so long. A new process waits for as long again. */
function patienceOf(
  { metadata }: TrafficStack,
  { name, deadline: patience = DEFAULT_DEADLINE }: ComponentSpec,
  { sightings, clock }: Pick<Observed, 'sightings' | 'clock'>,
): Pick<Seeking, 'patience' | 'isOver'> {
  const since = sightings.of(metadata?.name ?? '').awaiting.get(name)?.at;
  return { patience, isOver: since !== undefined && clock.monotonic() - since >= durationMs(patience) };
}

/** Whether the inventory of a component has an object, or any object by default. */
function isInInventory({ status }: TrafficStack, name: string | undefined, object?: Partial<InventoryObject>): boolean {
  const isIt = ({ kind, namespace, name: of }: InventoryObject): boolean =>
    object === undefined || (kind === object.kind && namespace === object.namespace && of === object.name);
  return status?.inventory?.some(({ component, objects }) => component === name && objects.some(isIt)) === true;
}

function podsOf(
  { metadata }: TrafficStack,
  component: string,
  namespace: string,
  { caches, nodes }: Pick<Observed, 'caches' | 'nodes'>,
): readonly StackPod[] {
  const pods = caches.pods.lister.byIndex(BY_COMPONENT, podIndexOf(namespace, metadata?.name, component));
  return withLostNodes(pods, nodes);
}

/**
 * The observation with the objects that are about to be created, as the API server has them: one without the label of a stack is in no
 * cache. Undefined if there is none.
 *
 * @throws ApiError, TransportError
 */
export async function withStrangers(
  observation: Observation,
  { apply }: Pick<StackPlan, 'apply'>,
  strangers: Pick<Look, 'find'>,
): Promise<Observation | undefined> {
  const found = new Map<string, KubeObject>();
  const missing = apply.filter(({ live }) => live === undefined);
  await forEachAtOnce(missing, READS_AT_ONCE, async (planned) => {
    const live = await strangers.find(planned);
    if (live !== undefined) found.set(idOf(planned), live);
  });
  if (found.size === 0) return undefined;
  const components = observation.components.map((component) => ({
    ...component,
    objects: component.objects.map((each) =>
      withLive(each, each.live ?? found.get(idOf(each)), { name: component.spec.name, stack: observation.stack }),
    ),
  }));
  return { ...observation, components };
}

function cachedIn(caches: Caches, { resource, object }: DesiredObject): KubeObject | undefined {
  return overlayOf(caches, resource).get(keyOf(object));
}

/** Undefined if the cache has dropped the body of the object: whoever fills a namespace with such objects costs it a request. */
function wholeOf(cached: KubeObject | undefined): KubeObject | undefined {
  return isWithoutBody(cached) ? undefined : cached;
}

/**
 * The label of a component counts only if the inventory says the same: a label that somebody has changed is drift.
 *
 * @param name of the component: an object of somebody else's is desired without labels
 */
function withLive(
  { resource, object, hash, fieldManager }: DesiredObject & Pick<ObservedObject, 'hash'>,
  live: KubeObject | undefined,
  { name, stack }: { readonly name: string; readonly stack: TrafficStack },
): ObservedObject {
  const isApplied = live?.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === hash;
  const isCurrent = isApplied && !mustBeReplaced({ resource, object, live });
  const component = live?.metadata?.labels?.[COMPONENT_LABEL];
  const isOther = component !== name && isInInventory(stack, component, { kind: resource.kind, ...object.metadata });
  const heldBy = isOther ? component : undefined;
  return { resource, object, hash, fieldManager, live: live && withKind(live, object), isCurrent, heldBy };
}

/** Lists leave the kind of their items out. */
function withKind(live: KubeObject, { apiVersion = '', kind = '' }: KubeObject): KubeObject {
  return { apiVersion, kind, ...live };
}

/** A stack that is being deleted does not wait for it: its owner reference deletes it then. */
function unreadOf({ metadata, status }: TrafficStack, caches: Caches): InventoryEntry[] {
  if (metadata?.deletionTimestamp !== undefined) return [];
  return (status?.inventory ?? [])
    .map((entry) => ({ ...entry, objects: entry.objects.filter((ref) => !isCached(caches, ref)) }))
    .filter(({ objects }) => objects.length > 0);
}

/** An object that is about to leave the inventory is read: a cache may be late. */
async function leftOf(
  stack: TrafficStack,
  observed: readonly ObservedComponent[],
  { caches, client }: Pick<Observed, 'caches' | 'client'>,
): Promise<LeftObject[]> {
  const kept = observed.flatMap(({ objects }) => objects.filter(({ heldBy }) => heldBy === undefined));
  const revisions = observed.flatMap(({ stored }) =>
    stored === undefined ? [] : [{ resource: CONTROLLER_REVISIONS, object: stored.live }],
  );
  const wanted = new Set([...kept, ...revisions].map((each) => idOf(each)));
  const left: LeftObject[] = [];
  for (const { component, objects } of stack.status?.inventory ?? []) {
    // The workload is the last one, and is removed first.
    for (const ref of objects.toReversed()) {
      const { kind, namespace, name } = ref;
      const resource = resourceOfKind(kind);
      if (!isCached(caches, ref)) continue;
      if (wanted.has(idFor(resource, { namespace, name }))) continue;
      const desired = memberOf(kind, { namespace, name });
      const live = wholeOf(cachedIn(caches, desired)) ?? (await readLive(client, desired));
      if (live !== undefined && isOfStack(live, stack)) left.push({ component, resource, live });
    }
  }
  return left;
}
