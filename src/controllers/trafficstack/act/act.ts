import { TRAFFIC_STACKS } from '../../../api/trafficstack/trafficStack.ts';
import { StackReason } from '../../../api/trafficstack/reasons.ts';
import type { Applier } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError, isNotFound } from '../../../runtime/client/errors.ts';
import { keyOf, refOfKey } from '../../../runtime/client/resource.ts';
import { createFailureOf } from '../../../runtime/status/writeFailures.ts';
import { idOfObject } from '../decide/objects.ts';
import type { StackPlan } from '../decide/plan.ts';
import type { ComponentFailure } from '../decide/status.ts';
import { overlayOf, type Caches } from '../observe/caches.ts';
import type { LeftObject } from '../observe/observation.ts';

/** What writes. */
export interface Writers {
  /** Gated on leadership. */
  readonly client: Pick<Client, 'delete'>;
  readonly applier: Pick<Applier, 'apply'>;
  readonly caches: Caches;
  readonly signal?: AbortSignal | undefined;
}

/** HTTP status of an object that the API server rejects. */
const INVALID = 422;

const failureOf = createFailureOf(TRAFFIC_STACKS, {
  forbidden: StackReason.WriteFailed,
  refused: StackReason.WriteFailed,
  unreachable: StackReason.WriteFailed,
  failed: StackReason.WriteFailed,
});

/**
 * Writes what a plan says, in its order. After a failure the other objects of that component are left out; other components are
 * written.
 *
 * @throws NotLeaderError; WaitingError if somebody else wrote the stack meanwhile
 */
export async function act(
  { apply, remove }: Pick<StackPlan, 'apply' | 'remove'>,
  writers: Writers,
): Promise<ComponentFailure[]> {
  const failures: ComponentFailure[] = [];
  const attempt = async (component: string, what: string, write: () => Promise<void>): Promise<void> => {
    if (failures.some((failure) => failure.component === component)) return;
    writers.signal?.throwIfAborted();
    try {
      await write();
    } catch (error) {
      failures.push({ component, ...failureOf(what, error), ...detailOf(what, error) });
    }
  };
  for (const planned of apply) {
    await attempt(planned.component, idOfObject(planned), async () => {
      const { resource, object, live } = planned;
      const { signal } = writers;
      const call = { takesNothingOver: true, createsByApply: true, ...(signal && { signal }) };
      const { object: answer, written } = await writers.applier.apply(resource, object, live, call);
      if (written) overlayOf(writers.caches, resource).wrote(answer);
    });
  }
  for (const left of remove) {
    const { resource, live } = left;
    await attempt(left.component, idOfObject({ resource, object: live }), () => removeObject(left, writers));
  }
  return failures;
}

/** What is wrong with an object that the API server rejects, in its words. */
function detailOf(what: string, error: unknown): { readonly message?: string } {
  return error instanceof ApiError && error.status === INVALID ? { message: `${what}: ${error.detail}` } : {};
}

/** Deletes the very object that was observed. Its pods are deleted by the garbage collector of Kubernetes. */
async function removeObject({ resource, live }: LeftObject, { client }: Writers): Promise<void> {
  const uid = live.metadata?.uid;
  const options = { propagationPolicy: 'Background' as const, ...(uid !== undefined && { preconditions: { uid } }) };
  await client.delete(resource, refOfKey(keyOf(live)), options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
