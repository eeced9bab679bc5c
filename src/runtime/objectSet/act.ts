import type { Applier } from '../apply/apply.ts';
import type { CallOptions, Client } from '../client/client.ts';
import { NotLeaderError } from '../client/errors.ts';
import { keyOf, refOfKey } from '../client/resource.ts';
import { idOf, type Member } from './objectSet.ts';
import type { Observed, Plan } from './plan.ts';

/** A write that failed. */
export interface Failure {
  readonly member: Member;
  readonly error: unknown;
}

/** The means to write objects. */
interface Tools {
  readonly applier: Applier;
  readonly client: Client;
}

/**
 * Applies and deletes the objects of the plan. After a failed apply, skips the objects that depend on the failed object; after a failed
 * delete, skips the objects that it depends on. Writes everything else.
 *
 * @throws NotLeaderError
 */
export async function carryOut(plan: Plan, { applier, client }: Tools): Promise<Failure[]> {
  return [
    ...(await inTurn(plan.apply, (each) => apply(applier, each), dependsOn)),
    ...(await inTurn(
      plan.remove,
      (each) => remove(client, each),
      (each, skipped) => dependsOn(skipped, each),
    )),
  ];
}

/**
 * Deletes the observed object only: an object that has taken its name since then has another uid, and stays.
 *
 * @throws ApiError, TransportError, NotLeaderError
 */
export async function remove(
  client: Client,
  { member, live }: Observed<Member>,
  options: CallOptions = {},
): Promise<void> {
  const uid = live?.metadata?.uid;
  await client.delete(member.resource, refOfKey(keyOf(member.object)), {
    ...options,
    propagationPolicy: 'Background',
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  });
}

/** Runs the writes in order. @param needs returns whether a skipped step prevents a step */
async function inTurn(
  steps: readonly Observed[],
  write: (each: Observed) => Promise<void>,
  needs: (each: Observed, skipped: Observed) => boolean,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const skipped: Observed[] = [];
  for (const each of steps) {
    if (skipped.some((other) => needs(each, other))) {
      skipped.push(each);
      continue;
    }
    try {
      await write(each);
    } catch (error) {
      if (error instanceof NotLeaderError) throw error;
      skipped.push(each);
      failures.push({ member: each.member, error });
    }
  }
  return failures;
}

async function apply(applier: Applier, { member, live }: Observed): Promise<void> {
  await applier.apply(member.resource, member.object, live);
}

function dependsOn({ member }: Observed, other: Observed): boolean {
  return member.dependsOn.includes(idOf(other.member));
}
