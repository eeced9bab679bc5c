import { type Client, getIfExists } from '../client/client.ts';
import { keyOf, refOfKey, type KubeObject } from '../client/resource.ts';
import { isNamespace, type Member, type ObjectSet, type OrderedMember, idOf } from './objectSet.ts';
import { planSet, type Observation, type Observed, type SwitchedOff, isOff, refusalProblem } from './plan.ts';
import {
  createInformer,
  isKnown,
  withoutManagedFields,
  type Informer,
  type InformerOptions,
} from '../cache/informer.ts';
import type { Problem } from '../process/problem.ts';

/** The sources of an observation. */
interface Sources<G extends string> {
  /** Returns the present object with the name of the member. */
  readonly live: (member: Member<G>) => KubeObject | undefined | Promise<KubeObject | undefined>;
  /** Groups for which `live` may be wrong. */
  readonly unknown: ReadonlySet<G | undefined>;
  /** 'namespace/name' of objects in a Namespace that are not ours. Called only for a Namespace that has to go. */
  readonly strangersIn: (namespace: string) => Promise<readonly string[]>;
}

/**
 * Reads the inputs of `planSet`.
 *
 * @param off the groups that are switched off
 * @throws ApiError, TransportError
 */
export async function observeSet<G extends string>(
  { owner, members }: ObjectSet<G>,
  off: SwitchedOff<G>,
  { live, unknown, strangersIn }: Sources<G>,
): Promise<Observation<G>> {
  const observed: Observed<OrderedMember<G>>[] = [];
  for (const member of members) observed.push({ member, live: await live(member) });
  const observation = { owner, observed, off, unknown, strangers: [] };
  const going = planSet(observation).remove.filter(({ member }) => isNamespace(member));
  const strangers: string[] = [];
  for (const { member } of going) strangers.push(...(await strangersIn(keyOf(member.object))));
  return { ...observation, strangers };
}

/**
 * Reads the present object with the name of a member from the API server; undefined if it does not exist.
 *
 * @throws ApiError, TransportError
 */
export function readLive(client: Pick<Client, 'get'>, { resource, object }: Member): Promise<KubeObject | undefined> {
  return getIfExists(client, resource, refOfKey(keyOf(object)));
}

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
type WatchOptions = Pick<InformerOptions<KubeObject>, 'transport' | 'logger' | 'metrics' | 'clock' | 'onRefusal'>;

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
