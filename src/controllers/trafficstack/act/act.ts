import { TRAFFIC_STACKS } from '../../../api/trafficstack/trafficStack.ts';
import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { Applier } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { resourceName } from '../../../runtime/client/resource.ts';
import { ApiError, isInvalid, isNotFound } from '../../../runtime/client/errors.ts';
import { remove } from '../../../runtime/objectSet/act.ts';
import { idOf, type Member } from '../../../runtime/objectSet/member.ts';
import { createFailureOf } from '../../../runtime/status/writeFailures.ts';
import type { PlannedObject, StackPlan } from '../decide/plan.ts';
import type { ComponentFailure } from '../decide/failures.ts';
import { isUnserved, overlayOf, type Caches } from '../observe/caches.ts';

/** What writes. */
export interface Writers {
  /** Gated on leadership. */
  readonly client: Client;
  /** What applies an object, with its field manager. */
  readonly applierOf: (object: Pick<PlannedObject, 'fieldManager'>) => Pick<Applier, 'apply'>;
  readonly caches: Caches;
  readonly signal?: AbortSignal | undefined;
}

const failureOf = createFailureOf(TRAFFIC_STACKS, {
  forbidden: ComponentReason.WriteFailed,
  refused: ComponentReason.WriteFailed,
  unreachable: ComponentReason.WriteFailed,
  failed: ComponentReason.WriteFailed,
});

/**
 * Writes what a plan says, in its order. After a failure the other objects of that component are left out; other components are
 * written.
 *
 * @throws NotLeaderError; WaitingError if somebody else wrote the stack meanwhile
 */
export async function act(
  plan: Pick<StackPlan, 'apply' | 'store' | 'remove'>,
  writers: Writers,
): Promise<ComponentFailure[]> {
  const failures: ComponentFailure[] = [];
  const attempt = async (component: string, member: Member, write: () => Promise<void>): Promise<void> => {
    if (failures.some((failure) => failure.component === component)) return;
    writers.signal?.throwIfAborted();
    try {
      await write();
    } catch (error) {
      const what = idOf(member);
      const missing = isUnserved(writers.caches, member.resource) ? resourceName(member.resource) : undefined;
      failures.push({ component, ...failureOf(what, error), ...detailOf(what, error, missing) });
    }
  };
  for (const planned of [...plan.apply, ...plan.store]) {
    await attempt(planned.component, planned, async () => {
      const { resource, object, live } = planned;
      const { signal } = writers;
      const call = { takesNothingOver: true, createsByApply: true, ...(signal && { signal }) };
      const { object: answer, written } = await writers.applierOf(planned).apply(resource, object, live, call);
      if (written) overlayOf(writers.caches, resource).wrote(answer);
    });
  }
  for (const { component, resource, live } of plan.remove) {
    const member = { resource, object: live };
    await attempt(component, member, () => remove(writers.client, { member, live }));
  }
  return failures;
}

/**
 * What is wrong with an object that the API server rejects, in its words; or what is missing, such as its namespace.
 *
 * @param unserved the kind of the object, if the API server does not serve it: its answer does not name it
 */
function detailOf(what: string, error: unknown, unserved: string | undefined): { readonly message?: string } {
  if (isNotFound(error) && unserved !== undefined) {
    return { message: `${what}: the API server does not serve ${unserved}: its CRD is not installed` };
  }
  const isTold = error instanceof ApiError && (isInvalid(error) || isNotFound(error));
  return isTold ? { message: `${what}: ${error.detail}` } : {};
}
