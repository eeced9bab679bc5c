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
import { forEachAtOnce } from '../../../runtime/async/limit.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { Lister } from '../../../runtime/cache/informer.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { mayWrite, type AllowedNamespaces } from '../model/allowed.ts';
import type { DesiredComponent } from '../model/desired.ts';
import { namedExternal, usesOf } from '../model/external.ts';
import {
  isMadeBy,
  type LeftObject,
  type Observation,
  type ObservedComponent,
  type ObservedObject,
  type StackPod,
} from '../model/observation.ts';
import { COMPONENT_LABEL, MANIFEST_HASH } from '../names.ts';
import { isWorkload } from '../render/kinds.ts';
import { isOfStack, mustBeReplaced, refersTo, type DesiredObject } from '../render/objects.ts';
import type { AnswerFeed } from './answerFeed.ts';
import { BY_COMPONENT, isCached, overlayOf, resourceOf, type Caches } from './caches.ts';
import { withLostNodes } from './evidence.ts';
import type { Found, Seeking, Sources } from './externalCandidates.ts';
import { observeExternalProvider } from './externalProvider.ts';
import type { FirstSeen } from './firstSeen.ts';
import type { ForeignReader } from './foreignObjects.ts';
import { podIndexOf } from './stackPod.ts';

/** A new stack may have hundreds of objects, and its status waits for the reads. */
const READS_AT_ONCE = 8;

/** The desired components of a stack. */
export interface DesiredStack {
  /** Components in the order of their dependencies. */
  readonly components: readonly DesiredComponent[];
  readonly upgrade: UpgradeSpec;
}

/** The sources of an observation. */
export interface Observed extends Sources {
  readonly caches: Caches;
  readonly allowed: AllowedNamespaces;
  /** Complete Nodes. */
  readonly nodes: Pick<Lister<CachedNode>, 'get'>;
  readonly client: Client;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Answers to the queries about readiness and upgrades. */
  readonly answers: Pick<AnswerFeed, 'answer'>;
  readonly firstSeen: Pick<FirstSeen, 'of'>;
}

/**
 * Observes a stack.
 *
 * @param now ms since 1970
 * @throws ApiError, TransportError
 */
export async function observe(
  stack: TrafficStack,
  { components, upgrade: { query } }: DesiredStack,
  observed: Observed,
  now: number,
): Promise<Observation> {
  const { caches, client, answers, allowed } = observed;
  const found = await observeComponents(stack, components, { ...observed, now });
  const entries = (stack.status?.inventory ?? []).filter((entry) => !isGivenUp(entry, stack, caches));
  const pods = entries.map(({ component, objects: all }) => {
    // The pods of what the operator may not delete do not end.
    const objects = all.filter((ref) => isCached(caches, ref) && mayWrite(memberOf(caches, ref), allowed));
    const namespaces = [...new Set(objects.map(({ namespace }) => namespace))];
    const pods = namespaces.flatMap((namespace) => podsOf(stack, component, namespace, observed));
    // Somebody may have copied a workload with its labels.
    return [component, pods.filter((pod) => objects.some((ref) => isMadeBy(pod, ref)))] as const;
  });
  const left = Object.groupBy(await leftOf(stack, found, { caches, client }), ({ resource, live: object }) =>
    mayWrite({ resource, object }, allowed) ? 'removable' : 'locked',
  );
  return {
    ...{ stack, components: found, now, seen: observed.firstSeen.of(stack.metadata?.name ?? '') },
    ...(query !== undefined && { gate: { query, answer: answers.answer(query) } }),
    ...{ left: left.removable ?? [], locked: (left.locked ?? []).filter(({ live }) => refersTo(live, stack)) },
    unread: unreadOf(stack, caches),
    withPods: new Map(pods.filter(([, each]) => each.length > 0)),
    hasOrphanedPods: hasOrphanedPods(stack, caches),
  };
}

/** Whether pods of a stack have no workload. Anybody may give a pod the label of a stack: only its own namespaces count. */
function hasOrphanedPods({ metadata, status }: TrafficStack, caches: Caches): boolean {
  const refs = (status?.inventory ?? []).flatMap(({ objects }) => objects);
  const namespaces = new Set(refs.map(({ namespace }) => namespace));
  return [...namespaces].some((each) => {
    return caches.pods.lister.byIndex(BY_COMPONENT, podIndexOf(each, metadata?.name)).length > 0;
  });
}

function memberOf(caches: Caches, { kind, namespace, name }: InventoryObject): Member {
  return { resource: resourceOf(caches, kind), object: { metadata: { namespace, name } } };
}

/** Returns whether the workload of an entry no longer belongs to the stack, as after `--cascade=orphan`. Neither do its pods. */
function isGivenUp({ objects }: InventoryEntry, stack: TrafficStack, caches: Caches): boolean {
  return objects.some((ref) => {
    if (!isWorkload(ref) || !isCached(caches, ref)) return false;
    const live = cachedIn(caches, memberOf(caches, ref));
    return live !== undefined && !isWithoutBody(live) && !isOfStack(live, stack);
  });
}

/** @property now ms since 1970 */
type Where = Omit<Observed, 'client'> & { readonly now: number };

/** Observes components in order, but servers first: other searches depend on whether an external server is used. */
async function observeComponents(
  stack: TrafficStack,
  components: readonly DesiredComponent[],
  where: Where,
): Promise<ObservedComponent[]> {
  const found = new Map<DesiredComponent, ObservedComponent>();
  const used = new Set<ComponentType>();
  const isServer = ({ externalProvider }: DesiredComponent): boolean => externalProvider?.probe !== undefined;
  for (const target of [...components.filter(isServer), ...components.filter((each) => !isServer(each))]) {
    const component = await observeComponent(stack, target, { ...where, used });
    found.set(target, component);
    if (usesOf(component).uses !== undefined) used.add(target.spec.type);
  }
  return components.flatMap((target) => found.get(target) ?? []);
}

type Sought = Pick<DesiredComponent, 'objects' | 'externalProvider' | 'spec'>;

async function observeComponent(
  stack: TrafficStack,
  { objects: desired, externalProvider, waitsFor, ...target }: DesiredComponent,
  where: Where & { readonly used: ReadonlySet<ComponentType> },
): Promise<ObservedComponent> {
  const { name, ready = {}, workload } = target.spec;
  const sought = { objects: desired, externalProvider, spec: target.spec };
  const answer = ready.query === undefined ? undefined : where.answers.answer(ready.query);
  const found = await observeExternal(stack, sought, where);
  if (found?.external !== undefined) return { ...target, ...found, pods: [], ...(answer && { answer }) };
  const objects = await observeObjects(stack, sought, where);
  const awaits = await waitsFor?.();
  return {
    ...{ ...target, objects },
    ...(awaits !== undefined && { awaits }),
    ...(found?.unproven !== undefined && { unproven: found.unproven }),
    ...(answer && { answer }),
    ...(workload === undefined
      ? { pods: [], arePodsRead: false }
      : { pods: podsOf(stack, name, workload.namespace, where) }),
  };
}

/** Observes the external object of a component. Undefined if the component has objects of its own. */
async function observeExternal(
  stack: TrafficStack,
  { objects, externalProvider, spec }: Sought,
  where: Where & { readonly used: ReadonlySet<ComponentType> },
): Promise<Found | undefined> {
  const { caches, used, now } = where;
  const own = objects.at(-1);
  // A user may have deleted one of several objects. The others, and the inventory, show that the component is the stack's.
  const hasOwn = objects.some((each) => cachedIn(caches, each) !== undefined) || isInInventory(stack, spec.name);
  if (own !== undefined && hasOwn) return undefined;
  const prior = stack.status?.components?.find((each) => each.name === spec.name);
  const named = namedExternal(spec, prior);
  const seeking = { externalProvider, mode: spec.mode, own, named, used, now, ...patienceOf(stack, spec, where) };
  return observeExternalProvider(seeking, where);
}

/** Observes the objects of a component in the caches, or reads them where another owner may have them. */
async function observeObjects(
  stack: TrafficStack,
  { objects, externalProvider, spec: { name, mode } }: Sought,
  { caches, foreignObjects }: Pick<Observed, 'caches' | 'foreignObjects'>,
): Promise<ObservedObject[]> {
  const maybeExternal = externalProvider === undefined && (mode === 'External' || mode === 'Auto');
  const observed: ObservedObject[] = [];
  for (const desired of objects) {
    const cached = cachedIn(caches, desired);
    // An object of another owner has no label of a stack, so it is in no cache.
    const isElsewhere = maybeExternal || cached !== undefined;
    const live = wholeOf(cached) ?? (isElsewhere ? await foreignObjects.read(desired) : undefined);
    observed.push(withLive({ ...desired, hash: appliedHash(desired.object) }, live, { name, stack }));
  }
  return observed;
}

/** Returns how long a component waits for a found object, and whether that time has passed. A new process starts again. */
function patienceOf(
  { metadata }: TrafficStack,
  { name, deadline: patience = DEFAULT_DEADLINE }: ComponentSpec,
  { firstSeen, clock }: Pick<Observed, 'firstSeen' | 'clock'>,
): Pick<Seeking, 'patience' | 'isOver'> {
  const since = firstSeen.of(metadata?.name ?? '').awaiting.get(name)?.at;
  return { patience, isOver: since !== undefined && clock.monotonic() - since >= durationMs(patience) };
}

/** Whether the inventory of a component has an object, or any object by default. */
function isInInventory({ status }: TrafficStack, name: string | undefined, object?: Partial<InventoryObject>): boolean {
  const isIt = ({ kind, namespace, name: of, completed }: InventoryObject): boolean =>
    object === undefined ||
    (kind === object.kind &&
      namespace === object.namespace &&
      of === object.name &&
      [undefined, completed].includes(object.completed));
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
 * Adds the objects that are about to be created, as the API server has them: objects without the label of a stack are in no cache. Undefined if none
 * exists.
 *
 * @throws ApiError, TransportError
 */
export async function withForeignObjects(
  observation: Observation,
  { apply }: { readonly apply: readonly ObservedObject[] },
  foreignObjects: Pick<ForeignReader, 'find'>,
): Promise<Observation | undefined> {
  const found = new Map<string, KubeObject>();
  const missing = apply.filter(({ live }) => live === undefined);
  await forEachAtOnce(missing, READS_AT_ONCE, async (planned) => {
    const live = await foreignObjects.find(planned);
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

/** Returns undefined if the cache has dropped the body, so that the object is read: its namespace is full. */
function wholeOf(cached: KubeObject | undefined): KubeObject | undefined {
  return isWithoutBody(cached) ? undefined : cached;
}

/**
 * The label of a component counts only if the inventory says the same: a label that another client has changed is drift.
 *
 * @param name of the component: a desired object of another owner has no labels
 */
function withLive(
  { resource, object, hash, fieldManager, readyWhen }: DesiredObject & Pick<ObservedObject, 'hash'>,
  live: KubeObject | undefined,
  { name, stack }: { readonly name: string; readonly stack: TrafficStack },
): ObservedObject {
  const isApplied = live?.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === hash;
  const ref = { kind: resource.kind, namespace: object.metadata?.namespace, name: object.metadata?.name };
  const completed = object.metadata?.annotations?.[MANIFEST_HASH];
  const isCompleted =
    live === undefined && completed !== undefined && isInInventory(stack, name, { ...ref, completed });
  const isCurrent = isCompleted || (isApplied && !mustBeReplaced({ resource, object, live }));
  const component = live?.metadata?.labels?.[COMPONENT_LABEL];
  const isOther = component !== name && isInInventory(stack, component, ref);
  const heldBy = isOther ? component : undefined;
  return {
    resource,
    object,
    hash,
    fieldManager,
    readyWhen,
    live: live && withKind(live, object),
    isCurrent,
    isCompleted,
    heldBy,
  };
}

/** Lists leave the kind of their items out. */
function withKind(live: KubeObject, { apiVersion = '', kind = '' }: KubeObject): KubeObject {
  return { apiVersion, kind, ...live };
}

/** Returns inventory that this process may not read. Owner references delete it with the stack. */
function unreadOf({ metadata, status }: TrafficStack, caches: Caches): InventoryEntry[] {
  if (metadata?.deletionTimestamp !== undefined) return [];
  return (status?.inventory ?? [])
    .map((entry) => ({ ...entry, objects: entry.objects.filter((ref) => !isCached(caches, ref)) }))
    .filter(({ objects }) => objects.length > 0);
}

/** Returns objects that leave the inventory. They are read, because a cache may be late. */
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
      if (!isCached(caches, ref)) continue;
      const desired = memberOf(caches, ref);
      const { resource } = desired;
      if (wanted.has(idOf(desired))) continue;
      const live = wholeOf(cachedIn(caches, desired)) ?? (await readLive(client, desired));
      if (live !== undefined && isOfStack(live, stack)) left.push({ component, resource, live });
    }
  }
  return left;
}
