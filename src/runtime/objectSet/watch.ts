import { createInformer, isKnown, withoutManagedFields } from '../cache/informer.ts';
import type { Informer, InformerOptions } from '../cache/informer.ts';
import { keyOf } from '../client/resource.ts';
import type { KubeObject } from '../client/resource.ts';
import { idOf } from './member.ts';
import type { Member } from './member.ts';
import { isOff, type SwitchedOff } from './plan.ts';
import { refusalProblem } from './problem.ts';
import type { Problem } from '../process/problem.ts';

/** The caches of the objects of a set. */
export interface MemberCaches<G extends string> {
  /** In the order of the members. */
  readonly informers: readonly Informer<KubeObject>[];
  /** Returns the object with the name of the member, also a foreign one; undefined if it does not exist or is not watched. */
  live(member: Member): KubeObject | undefined;
  /** Returns the groups with an object that is not known. */
  unknownGroups(): ReadonlySet<G | undefined>;
  /** Returns a problem for each object that may not be watched, with the message of the API server, except for groups in `off`. */
  refusals(off?: SwitchedOff<G>): Problem[];
  /** Returns the group of the member of an informer. */
  groupOf(informer: Informer<KubeObject>): G | undefined;
}

/** The options that all informers of a set share. */
export type WatchOptions = Pick<
  InformerOptions<KubeObject>,
  'transport' | 'logger' | 'metrics' | 'clock' | 'onRefusal'
>;

/**
 * Creates an informer for each member by its name, so that RBAC can limit the names, and foreign objects are also found. Drops
 * managed fields.
 */
export function watchMembers<G extends string>(members: readonly Member<G>[], options: WatchOptions): MemberCaches<G> {
  const watched = members.map((member) => ({
    member,
    informer: createInformer({ ...options, ...selectionOf(member) }),
  }));
  const byId = new Map(watched.map(({ member, informer }) => [idOf(member), informer]));
  return {
    informers: watched.map(({ informer }) => informer),
    live: (member) => byId.get(idOf(member))?.lister.get(keyOf(member.object)),
    unknownGroups: () =>
      new Set(watched.filter(({ informer }) => !isKnown(informer)).map(({ member }) => member.group)),
    refusals: (off = new Set()) =>
      watched
        .filter(({ member }) => !isOff(off, member.group))
        .flatMap(({ member, informer }) => refusalOf(idOf(member), informer)),
    groupOf: (informer) => watched.find((each) => each.informer === informer)?.member.group,
  };
}

/**
 * Returns the problem that the watch of an informer is refused; none if it is allowed.
 *
 * @param object id of the watched object, for the problem
 */
export function refusalOf(object: string, { refusal }: Pick<Informer<KubeObject>, 'refusal'>): Problem[] {
  return refusal === undefined ? [] : [refusalProblem(object, refusal.detail)];
}

function selectionOf({ resource, object }: Member): Omit<InformerOptions<KubeObject>, keyof WatchOptions> {
  const { name = '', namespace } = object.metadata ?? {};
  const selection = { resource, fieldSelector: `metadata.name=${name}`, transform: withoutManagedFields };
  return namespace === undefined ? selection : { ...selection, namespace };
}
