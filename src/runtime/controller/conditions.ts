import type { KubeObject } from '../client/resource.ts';

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

/** The reason of Ready while the object is being deleted. Named as the result of kstatus. */
const TERMINATING = 'Terminating';

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

/**
 * Shortens a text for a status, an event or a log to `most` characters. Never half a surrogate pair, which the API server
 * does not keep.
 */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** The first names of a list, and how many more there are: "a, b and 3 more". */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** An event to record about the object that is reconciled. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** Which changes of one type of condition are events. */
interface ConditionRule {
  /** The status of the healthy condition. */
  readonly healthy: 'True' | 'False';
  /** True if the first healthy state is also an event. Otherwise only a healthy state after an unhealthy state is an event. */
  readonly firstHealthy?: boolean;
  /**
   * The changes that are events while the status stays unhealthy:
   * - reason (default): a different reason
   * - nothing: none, because reasons come and go within one outage
   * - messageOfGeneration: a different reason, or a different message for a new generation, because the new spec may be wrong in
   *   another place
   */
  readonly whileUnhealthy?: 'reason' | 'nothing' | 'messageOfGeneration';
}

export interface ConditionRules {
  /** By condition type. Changes of other types are not events. */
  readonly types: Readonly<Record<string, ConditionRule>>;
  /** Reasons of plain progress, which are not events. */
  readonly silent?: ReadonlySet<string>;
}

/** Rules of the types that kstatus and every controller's `Ready` share. */
export const STANDARD_TYPES = {
  Ready: { healthy: 'True', firstHealthy: true },
  Reconciling: { healthy: 'False' },
  Stalled: { healthy: 'False', whileUnhealthy: 'messageOfGeneration' },
} as const satisfies ConditionRules['types'];

/**
 * Returns the events for the changes between the present conditions of an object and the new conditions. An event has the reason of
 * its condition; it is a Warning when the condition is unhealthy.
 *
 * | condition before -> after            | event                                   |
 * | ------------------------------------ | --------------------------------------- |
 * | -> Unknown, or a silent reason       | none                                    |
 * | healthy -> unhealthy, none -> unhealthy | Warning                              |
 * | unhealthy -> unhealthy               | Warning, by the rule's `whileUnhealthy` |
 * | unhealthy -> healthy                 | Normal                                  |
 * | healthy -> healthy, none -> healthy  | Normal, if the rule has `firstHealthy` and the reason differs |
 */
export function conditionEvents(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
  { types, silent }: ConditionRules,
): PlannedEvent[] {
  return (after ?? []).flatMap((now) => {
    const rule = types[now.type];
    if (rule === undefined || now.status === 'Unknown' || silent?.has(now.reason)) return [];
    if (!isNews(findCondition(before, now.type), now, rule)) return [];
    const type = now.status === rule.healthy ? 'Normal' : 'Warning';
    return [{ type, reason: now.reason, note: `${now.type}: ${now.message}` }];
  });
}

function isNews(was: Condition | undefined, now: Condition, rule: ConditionRule): boolean {
  const isHealthy = now.status === rule.healthy;
  const { firstHealthy = false } = rule;
  if (was?.status === now.status) {
    return isHealthy ? firstHealthy && was.reason !== now.reason : goesOn(was, now, rule);
  }
  return !isHealthy || firstHealthy || (was !== undefined && was.status !== 'Unknown');
}

/** Returns whether a change within an unhealthy state is an event. */
function goesOn(was: Condition, now: Condition, { whileUnhealthy = 'reason' }: ConditionRule): boolean {
  if (whileUnhealthy === 'nothing') return false;
  if (was.reason !== now.reason) return true;
  if (whileUnhealthy === 'reason') return false;
  return was.message !== now.message && was.observedGeneration !== now.observedGeneration;
}
