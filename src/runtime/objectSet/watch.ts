import { createInformer, isKnown, withoutManagedFields } from '../cache/informer.ts';
import type { Informer, InformerOptions } from '../cache/informer.ts';
import { keyOf } from '../client/resource.ts';
import type { KubeObject } from '../client/resource.ts';
import { idOf } from './member.ts';
import type { Member } from './member.ts';
import { isOff, type SwitchedOff } from './plan.ts';
import { refusalProblem } from './problem.ts';
import type { Problem } from '../process/problem.ts';

/** Caches of the objects of a set. */
export interface MemberCaches<G extends string> {
  /** In the order of the members. */
  readonly informers: readonly Informer<KubeObject>[];
  /** The object that the cluster has under the member's name, whoever made it; undefined for a member that is not watched. */
  live(member: Member): KubeObject | undefined;
  /** Groups of which not every object is known. */
  unknownGroups(): ReadonlySet<G | undefined>;
  /** The objects that the API server does not let us watch, in its own words, but for those that are switched off. */
  refusals(off?: SwitchedOff<G>): Problem[];
  /** The group of the member that an informer is of. */
  groupOf(informer: Informer<KubeObject>): G | undefined;
}

/** What all informers of a set share. */
export type WatchOptions = Pick<
  InformerOptions<KubeObject>,
  'transport' | 'logger' | 'metrics' | 'clock' | 'onRefusal'
>;

/**
 * Makes an informer for each member by its name, so that RBAC can be by name too and a foreign object is seen as well.
 * Managed fields are not kept.
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
 * The problem that an informer is refused; none where it is not.
 *
 * @param object what the informer watches
 */
export function refusalOf(object: string, { refusal }: Pick<Informer<KubeObject>, 'refusal'>): Problem[] {
  return refusal === undefined ? [] : [refusalProblem(object, refusal.detail)];
}

function selectionOf({ resource, object }: Member): Omit<InformerOptions<KubeObject>, keyof WatchOptions> {
  const { name = '', namespace } = object.metadata ?? {};
  const selection = { resource, fieldSelector: `metadata.name=${name}`, transform: withoutManagedFields };
  return namespace === undefined ? selection : { ...selection, namespace };
}
