import type { KubeObject } from '../client/resource.ts';
import { metaTime, setCondition, type Condition } from '../controller/conditions.ts';
import { cut } from './cut.ts';

/** The reason of Ready while the object is being deleted. Named as the result of kstatus. */
export const TERMINATING = 'Terminating';

/** Characters of the message, which may quote an error. */
const LONGEST_MESSAGE = 1_024;

/** True if the object is being deleted. It exists until its last finalizer is removed. */
export function isTerminating({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/**
 * The conditions of an object that is being deleted: Ready is False, the others are unchanged. kstatus knows from the
 * deletionTimestamp that the object is Terminating, but clients such as `kubectl wait --for=condition=Ready` read only
 * the condition.
 *
 * @param now ms since 1970
 * @param message what the deletion waits for; by default the finalizers, which belong to other controllers
 */
export function terminatingConditions(
  object: KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } },
  now: number,
  message = othersOf(object),
): Condition[] {
  const ready = {
    ...({ type: 'Ready', status: 'False', reason: TERMINATING } as const),
    message: cut(message, LONGEST_MESSAGE),
    ...(object.metadata?.generation === undefined ? {} : { observedGeneration: object.metadata.generation }),
  };
  return setCondition(object.status?.conditions ?? [], ready, metaTime(now));
}

function othersOf({ metadata }: KubeObject): string {
  const { finalizers = [] } = metadata ?? {};
  return `being deleted: waiting for finalizer${finalizers.length === 1 ? '' : 's'} ${finalizers.join(', ')}`;
}
