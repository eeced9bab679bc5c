/** One aspect of an object's state, as metav1.Condition. */
export interface Condition {
  /** CamelCase, unique within an object, such as Ready. */
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** CamelCase, for programs. The event about the change has the same reason. */
  reason: string;
  /** For users. */
  message: string;
  /** The generation of the object that the condition was decided for. */
  observedGeneration?: number;
  /** RFC 3339 time when `status` last changed. */
  lastTransitionTime: string;
}

/**
 * Sets one condition and returns a new list; does not change `current`. Keeps the order and appends a new condition.
 * Like meta.SetStatusCondition, it sets lastTransitionTime only when the status changes, and always updates reason,
 * message and observedGeneration.
 *
 * @param now RFC 3339
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

/** A time as the API server writes it, metav1.Time: RFC 3339 in whole seconds, rounded down. @param ms since 1970 */
export function metaTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** The condition of that type, or undefined. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
