import type { ComponentMode } from '../../../api/trafficstack/terms.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../runtime/apply/appliedHash.ts';
import { apiVersionOf, keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { isMarked } from '../../../runtime/objectSet/owner.ts';
import type { StandIn } from '../../contract/builtIn.ts';
import { OWNER } from '../../contract/labels.ts';
import type { DesiredObject } from '../render/objects.ts';
import type { ObservedComponent, ObservedObject } from './observation.ts';
import type { StrangerReader } from './strangers.ts';

/** A built-in component whose own workload is in no cache. */
interface Seeking {
  /** Undefined: the component is what the stack makes. */
  readonly standIn: StandIn | undefined;
  readonly mode: ComponentMode | undefined;
  /** The workload that the stack would make; undefined if it makes none. */
  readonly own: DesiredObject | undefined;
}

/**
 * What a built-in component uses in place of objects of its own. Undefined if it has its own:
 *
 * | mode     | its own workload       | one of somebody else | used  |
 * |----------|------------------------|----------------------|-------|
 * | External | any                    | exists               | that  |
 * | External | any                    | is missing           | none: the component waits |
 * | Auto     | exists, also as the flags have made it | any  | its own |
 * | Auto     | is missing             | exists               | that  |
 * | Auto     | is missing             | is missing           | its own, which is made |
 *
 * @throws ApiError, TransportError
 */
export async function observeStandIn(
  { standIn, mode, own }: Seeking,
  strangers: Pick<StrangerReader, 'list'>,
): Promise<Pick<ObservedComponent, 'objects' | 'external'> | undefined> {
  if (standIn === undefined) return undefined;
  const all = await strangers.list(standIn.resource);
  const isOwn = ({ object }: DesiredObject): boolean => all.some((each) => keyOf(each) === keyOf(object));
  if (mode === 'Auto' && own !== undefined && isOwn(own)) return undefined;
  const found = findStandIn(all, standIn);
  const { sought } = standIn;
  if (found === undefined) return mode === 'External' ? { objects: [], external: { sought } } : undefined;
  return { objects: [observedObject(standIn, found)], external: { sought, problem: standIn.problem(found) } };
}

/** Of several, one that is of use; of equal ones the first by namespace and name, so that their order does not matter. */
function findStandIn(all: readonly KubeObject[], standIn: StandIn): KubeObject | undefined {
  const rankOf = (live: KubeObject): number => (standIn.problem(live) === undefined ? 0 : 1);
  return all
    .filter((live) => isOfOthers(live) && standIn.matches(live))
    .sort((a, b) => rankOf(a) - rankOf(b) || (keyOf(a) < keyOf(b) ? -1 : 1))[0];
}

/** Whether neither a stack nor another controller of this operator has made it. One that is being deleted is gone soon. */
function isOfOthers(live: KubeObject): boolean {
  const { annotations, deletionTimestamp } = live.metadata ?? {};
  const isOurs = isMarked(live, OWNER.labels) || annotations?.[APPLIED_HASH_ANNOTATION] !== undefined;
  return !isOurs && deletionTimestamp === undefined;
}

function observedObject({ resource }: StandIn, live: KubeObject): ObservedObject {
  const { namespace = '', name = '' } = live.metadata ?? {};
  const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return {
    resource,
    object: { ...typed, metadata: { namespace, name } },
    // It is not applied.
    hash: '',
    isCurrent: false,
    live: { ...typed, ...live },
  };
}
