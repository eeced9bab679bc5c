import { TRAFFIC_STACKS, type InventoryObject, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { BodyBudget, createBoundedInformer, identityOf } from '../../../runtime/cache/bodyBudget.ts';
import { combineInformers } from '../../../runtime/cache/combinedInformer.ts';
import { withoutManagedFields, type Informer, type InformerOptions } from '../../../runtime/cache/informer.ts';
import { createOverlay, type Overlay } from '../../../runtime/cache/overlay.ts';
import { isNotFound } from '../../../runtime/client/errors.ts';
import {
  resourceName,
  type KubeObject,
  type ObjectRef,
  type Resource,
  keyOf,
} from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS, PODS, PROMETHEUS_RULES } from '../../../runtime/client/resources.ts';
import { idFor, idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import type { ControllerContext } from '../../contract/context.ts';
import { MANAGED_BY, OPERATOR } from '../../contract/labels.ts';
import type { StackPod } from '../model/observation.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import { isKind, readableResources } from '../render/kinds.ts';
import { refersTo, isOfStack } from '../render/objects.ts';
import { storedIn, type StoredRevision } from '../render/storedRevision.ts';
import { identityOfPod, trimPod } from './stackPod.ts';

export const BY_COMPONENT = 'component';
/** StatefulSets and DaemonSets make ControllerRevisions with the labels of their pods. */
const OWN_REVISIONS = `${STACK_LABEL},${MANAGED_BY}=${OPERATOR}`;

const IDENTIFYING = [STACK_LABEL, COMPONENT_LABEL];
/** Characters of an owner reference as JSON. The name of a stack has 253 at most, the rest 170. The API server accepts any length. */
const LONGEST_REFERENCE = 512;

/** Cached objects of one kind, with the latest writes. */
interface KindCache {
  readonly resource: Resource;
  /** Returns whether an object of the kind would be cached. Undefined: always. */
  readonly covers?: ((ref: ObjectRef) => boolean) | undefined;
  readonly informer: Informer<KubeObject>;
  readonly overlay: Overlay<KubeObject>;
}

/** Cached objects and pods of stacks. */
export interface Caches {
  readonly kinds: readonly KindCache[];
  readonly pods: Informer<StackPod>;
}

/** The cached objects while the stacks of users are off. */
interface OnlyNamed {
  /** The namespace of the operator, which has stored revisions. */
  readonly namespace: string;
  /** The objects of built-in components, by their names. */
  readonly members: readonly Member[];
}

/** The listed and watched objects of one kind. */
interface Selected {
  readonly resource: Resource;
  readonly selections: readonly Pick<InformerOptions<KubeObject>, 'namespace' | 'fieldSelector'>[];
  readonly covers?: KindCache['covers'];
}

/**
 * Creates the caches: only objects with the label of a stack.
 *
 * @param named undefined: objects of all stacks, in all namespaces. Otherwise only objects of these names, so that rights by name suffice
 * @param objectKinds kinds of the type Objects
 */
export function createCaches(
  context: ControllerContext,
  named?: OnlyNamed,
  objectKinds: readonly Resource[] = [],
): Caches {
  const { transport, logger, metrics, clock, builtIns } = context;
  const common = { transport, logger, metrics: metrics.reflector };
  // Of all kinds together: whoever may write labels in a namespace makes objects part of the caches.
  const budget = new BodyBudget();
  const selected = named === undefined ? selectAll(builtIns, objectKinds) : selectNamed(named);
  const kinds = selected.map(({ resource, selections, covers }) => {
    const labelSelector = resource.kind === CONTROLLER_REVISIONS.kind ? OWN_REVISIONS : STACK_LABEL;
    const options = { ...common, labelSelector, resource, transform: withoutManagedFields };
    const informers = selections.map((selection) =>
      createBoundedInformer<KubeObject>({ ...options, ...selection }, identityInStack, { budget }),
    );
    const informer = combineInformers(resource, informers);
    return { resource, covers, informer, overlay: createOverlay(informer, { clock, includeCreated: true }) };
  });
  const ofPods = {
    ...common,
    ...(named !== undefined && { namespace: named.namespace }),
    labelSelector: STACK_LABEL,
    resource: PODS as Resource as Resource<StackPod>,
    transform: trimPod,
    indexes: { [BY_COMPONENT]: ({ component }: StackPod) => [component] },
  };
  // A budget of their own: pods must not push out the objects that make them.
  return { kinds, pods: createBoundedInformer<StackPod>(ofPods, identityOfPod) };
}

/**
 * Returns the bounded part of an object that a cache keeps without its body, with the owner reference to its stack. Without that, the object would
 * seem to belong to the stack.
 */
export function identityInStack(object: KubeObject): KubeObject {
  const { metadata, ...rest } = identityOf(object, IDENTIFYING);
  const owner = object.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  const isBounded = owner?.kind === TRAFFIC_STACKS.kind && JSON.stringify(owner).length <= LONGEST_REFERENCE;
  return { ...rest, metadata: { ...metadata, ...(isBounded && { ownerReferences: [owner] }) } };
}

function selectAll(builtIns: ControllerContext['builtIns'], objectKinds: readonly Resource[]): Selected[] {
  const others = objectKinds.filter(({ kind }) => !isKind(kind));
  return [...readableResources(builtIns), ...others].map((resource) => ({ resource, selections: [{}] }));
}

/** Selects each object by its name. Objects of the same name without the label of a stack are not cached. */
function selectNamed({ namespace, members }: OnlyNamed): Selected[] {
  const ids = new Set(members.map(idOf));
  const byKind = Map.groupBy(members, ({ resource }) => resource.kind);
  const ofKinds = [...byKind.values()].flatMap((all): Selected[] => {
    const [first] = all;
    if (first === undefined) return [];
    const { resource } = first;
    const unique = new Map(all.map((each) => [idOf(each), each.object.metadata ?? {}]));
    const selections = [...unique.values()].map((ref) => ({
      fieldSelector: `metadata.name=${ref.name}`,
      ...(ref.namespace !== undefined && { namespace: ref.namespace }),
    }));
    return [{ resource, selections, covers: (ref) => ids.has(idFor(resource, ref)) }];
  });
  const isOwn = (ref: ObjectRef): boolean => ref.namespace === namespace;
  return [...ofKinds, { resource: CONTROLLER_REVISIONS, selections: [{ namespace }], covers: isOwn }];
}

/** Returns the cached objects of a kind. @throws Error for a kind of which no stack has objects */
export function overlayOf(caches: Caches, { kind }: Resource): Overlay<KubeObject> {
  return cacheOf(caches, kind).overlay;
}

/** Returns the resource of a kind. @throws Error for a kind of which no stack has objects */
export function resourceOf(caches: Caches, kind: string): Resource {
  return cacheOf(caches, kind).resource;
}

function cacheOf({ kinds }: Caches, kind: string): KindCache {
  const found = kinds.find(({ resource }) => resource.kind === kind);
  if (found === undefined) throw new Error(`objects of the kind ${kind} are not cached`);
  return found;
}

/** Returns whether an object would be cached. An operator with other flags may read others. */
export function isCached({ kinds }: Caches, { kind, ...ref }: InventoryObject): boolean {
  return kinds.some(({ resource, covers }) => resource.kind === kind && (covers?.(ref) ?? true));
}

/** Returns whether a cluster may lack a kind, as one of the type Objects. Its cache is then empty. */
export function mayBeMissing({ kind }: Pick<Resource, 'kind'>): boolean {
  return kind === PROMETHEUS_RULES.kind || !isKind(kind);
}

/** Returns whether the API server does not serve a kind. */
export function isUnserved({ kinds }: Caches, { kind }: Pick<Resource, 'kind'>): boolean {
  return kinds.some(({ resource, informer }) => resource.kind === kind && isNotFound(informer.refusal));
}

/** Returns why the caches cannot be used, for users. Undefined if they can. */
export function problemOf({ kinds, pods }: Caches): string | undefined {
  for (const { resource, synced, refusal } of [...kinds.map(({ informer }) => informer), pods]) {
    if (isNotFound(refusal) && mayBeMissing(resource)) continue;
    if (refusal !== undefined) return refusal.detail;
    if (!synced) return `${resourceName(resource)} are not read yet`;
  }
  return undefined;
}

/**
 * Returns the objects of the inventory that exist and refer to the stack, as cached: kind, namespace and name. The caches keep the owner reference
 * also without the body.
 */
export function existingIn(stack: TrafficStack, caches: Caches): Member[] {
  const refs = (stack.status?.inventory ?? []).flatMap(({ objects }) => objects);
  return refs.flatMap((ref) => {
    const { kind, namespace, name } = ref;
    if (!isCached(caches, ref)) return [];
    const resource = resourceOf(caches, kind);
    const object = { metadata: { namespace, name } };
    const live = overlayOf(caches, resource).get(keyOf(object));
    return live !== undefined && refersTo(live, stack) ? [{ resource, object }] : [];
  });
}

/**
 * Returns the last ready revision of a component if it is stored. Only the inventory counts: others may create ControllerRevisions, but may not write
 * the status of a stack.
 */
export function lastReadyRevision(stack: TrafficStack, component: string, caches: Caches): StoredRevision | undefined {
  const entry = stack.status?.inventory?.find((each) => each.component === component);
  const stored = (entry?.objects ?? []).flatMap((ref) => {
    const { kind, namespace, name } = ref;
    if (kind !== CONTROLLER_REVISIONS.kind || !isCached(caches, ref)) return [];
    const live = overlayOf(caches, CONTROLLER_REVISIONS).get(keyOf({ metadata: { namespace, name } }));
    return live !== undefined && isOfStack(live, stack) ? (storedIn(live) ?? []) : [];
  });
  return stored.toSorted((a, b) => b.number - a.number)[0];
}
