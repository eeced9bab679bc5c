import { BodyBudget, createBoundedInformer, identityOf, SMALL_PAGE } from '../../../runtime/cache/bodyBudget.ts';
import { createInformer, withoutManagedFields, type Informer } from '../../../runtime/cache/informer.ts';
import { createOverlay, type Overlay } from '../../../runtime/cache/overlay.ts';
import { resourceName, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { isNotFound } from '../../../runtime/client/errors.ts';
import { CONTROLLER_REVISIONS, PODS, PROMETHEUS_RULES } from '../../../runtime/client/resources.ts';
import type { ControllerContext } from '../../contract/context.ts';
import { MANAGED_BY, OPERATOR } from '../../contract/labels.ts';
import { readableResources } from '../render/kinds.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import type { StackPod } from './observation.ts';
import { trimPod } from './stackPod.ts';

export const BY_COMPONENT = 'component';
/** StatefulSets and DaemonSets make ControllerRevisions with the labels of their pods. */
const OWN_REVISIONS = `${STACK_LABEL},${MANAGED_BY}=${OPERATOR}`;

const IDENTIFYING = [STACK_LABEL, COMPONENT_LABEL];

/** The objects of one kind that stacks have, and what was written last. */
interface KindCache {
  readonly resource: Resource;
  readonly informer: Informer<KubeObject>;
  readonly overlay: Overlay<KubeObject>;
}

/** What stacks have in the cluster. */
export interface Caches {
  readonly kinds: readonly KindCache[];
  readonly pods: Informer<StackPod>;
}

/** Creates the caches: only objects with the label of a stack. */
export function createCaches({ transport, logger, metrics, clock, builtIns }: ControllerContext): Caches {
  const common = { transport, logger, metrics: metrics.reflector };
  // Of all kinds together: whoever may write labels in a namespace makes objects part of the caches.
  const budget = new BodyBudget();
  const identity = (object: KubeObject): KubeObject => identityOf(object, IDENTIFYING);
  const kinds = readableResources(builtIns).map((resource) => {
    const labelSelector = resource.kind === CONTROLLER_REVISIONS.kind ? OWN_REVISIONS : STACK_LABEL;
    const options = { ...common, labelSelector, resource, transform: withoutManagedFields };
    const informer = createBoundedInformer<KubeObject>(options, identity, { budget });
    return { resource, informer, overlay: createOverlay(informer, { clock, includeCreated: true }) };
  });
  const pods = createInformer<StackPod>({
    ...common,
    labelSelector: STACK_LABEL,
    resource: PODS as Resource as Resource<StackPod>,
    transform: trimPod,
    pageSize: SMALL_PAGE,
    indexes: { [BY_COMPONENT]: ({ component }) => [component] },
  });
  return { kinds, pods };
}

/** The cached objects of a kind. @throws Error for a kind of which no stack has objects */
export function overlayOf({ kinds }: Caches, { kind }: Resource): Overlay<KubeObject> {
  const found = kinds.find(({ resource }) => resource.kind === kind);
  if (found === undefined) throw new Error(`objects of the kind ${kind} are not cached`);
  return found.overlay;
}

/** Whether objects of a kind are cached. A kind without may be read by an operator with other flags. */
export function isCached({ kinds }: Caches, { kind }: Pick<Resource, 'kind'>): boolean {
  return kinds.some(({ resource }) => resource.kind === kind);
}

/** Whether the cluster may do without a kind. While it does, its cache is empty. */
export function mayBeMissing({ kind }: Pick<Resource, 'kind'>): boolean {
  return kind === PROMETHEUS_RULES.kind;
}

/** Whether the API server does not serve a kind of which a stack has an object. */
export function isUnserved({ kinds }: Caches, { kind }: Pick<Resource, 'kind'>): boolean {
  return kinds.some(({ resource, informer }) => resource.kind === kind && isNotFound(informer.refusal));
}

/** What keeps the caches from being used, for users; undefined if nothing does. */
export function problemOf({ kinds, pods }: Caches): string | undefined {
  for (const { resource, synced, refusal } of [...kinds.map(({ informer }) => informer), pods]) {
    if (isNotFound(refusal) && mayBeMissing(resource)) continue;
    if (refusal !== undefined) return refusal.detail;
    if (!synced) return `${resourceName(resource)} are not read yet`;
  }
  return undefined;
}
