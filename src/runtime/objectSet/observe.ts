import type { Client } from '../client/client.ts';
import { getIfExists } from '../client/getIfExists.ts';
import { keyOf, refOfKey } from '../client/resource.ts';
import type { KubeObject } from '../client/resource.ts';
import { isNamespace } from './member.ts';
import type { Member } from './member.ts';
import type { ObjectSet } from './objectSet.ts';
import type { OrderedMember } from './order.ts';
import { planSet } from './plan.ts';
import type { Observation, Observed, SwitchedOff } from './plan.ts';

/** The sources of an observation. */
export interface Sources<G extends string> {
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
