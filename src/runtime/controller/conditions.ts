/** One aspect of an object's state, as metav1.Condition. */
export interface Condition {
  /** CamelCase, unique within an object, such as Ready. */
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs; also the reason of the event that tells of the change. */
  reason: string;
  /** For people. */
  message: string;
  /** The generation of the object that the condition was decided for. */
  observedGeneration?: number;
  /** RFC 3339; when the status last changed from one of its values to another. */
  lastTransitionTime: string;
}

/**
 * Sets one condition and returns a new list; `current` is left as it is. The order stays, a new condition goes to the
 * end. As metav1's meta.SetStatusCondition does it, lastTransitionTime moves to `now` (RFC 3339) only when the status
 * changes; reason, message and observedGeneration always follow.
 */
export function setCondition(
  current: readonly Condition[],
  next: Omit<Condition, 'lastTransitionTime'>,
  now: string,
): Condition[] {
  const before = findCondition(current, next.type);
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : now;
  const after: Condition = { ...next, lastTransitionTime };
  return before === undefined
    ? [...current, after]
    : current.map((condition) => (condition.type === next.type ? after : condition));
}

/** The condition of that type, or undefined. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
