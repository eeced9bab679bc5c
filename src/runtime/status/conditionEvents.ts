import { findCondition, type Condition } from '../controller/conditions.ts';

/** An event to record about the object that is reconciled. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** Which changes of one type of condition are events. */
export interface ConditionRule {
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
