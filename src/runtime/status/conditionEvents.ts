import { findCondition, type Condition } from '../controller/conditions.ts';

/** An event to record about the object that is reconciled. */
export interface PlannedEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

/** When a change of one type of condition is an event. */
export interface ConditionRule {
  /** The status in which the condition is as it should be. */
  readonly healthy: 'True' | 'False';
  /** Its first healthy state is an event, too. Otherwise only one that follows an unhealthy state is. */
  readonly firstHealthy?: boolean;
  /**
   * What makes an event while the status stays unhealthy: another reason, which is the default; nothing, where reasons
   * come and go within one outage; or another message as well, where it is decided for another generation, since a spec
   * that was written anew may be wrong in another place.
   */
  readonly whileUnhealthy?: 'reason' | 'nothing' | 'messageOfGeneration';
}

export interface ConditionRules {
  /** By condition type. Other types are no events. */
  readonly types: Readonly<Record<string, ConditionRule>>;
  /** Reasons of plain progress, which are no events. */
  readonly silent?: ReadonlySet<string>;
}

/** Rules of the types that kstatus and every controller's `Ready` share. */
export const STANDARD_TYPES = {
  Ready: { healthy: 'True', firstHealthy: true },
  Reconciling: { healthy: 'False' },
  Stalled: { healthy: 'False', whileUnhealthy: 'messageOfGeneration' },
} as const satisfies ConditionRules['types'];

/**
 * The events that report the way from the conditions that an object has to the new ones. An event has the reason of its
 * condition; it is a Warning when the condition is not as it should be.
 *
 * | condition before -> after            | event                                   |
 * | ------------------------------------ | --------------------------------------- |
 * | -> Unknown, or a silent reason       | none                                    |
 * | healthy -> unhealthy, none -> unhealthy | Warning                              |
 * | unhealthy -> unhealthy               | Warning, by the rule's `whileUnhealthy` |
 * | unhealthy -> healthy                 | Normal                                  |
 * | healthy -> healthy, none -> healthy  | Normal, where the rule has `firstHealthy` and the reason is another |
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

/** Whether an unhealthy state that goes on is another one. */
function goesOn(was: Condition, now: Condition, { whileUnhealthy = 'reason' }: ConditionRule): boolean {
  if (whileUnhealthy === 'nothing') return false;
  if (was.reason !== now.reason) return true;
  if (whileUnhealthy === 'reason') return false;
  return was.message !== now.message && was.observedGeneration !== now.observedGeneration;
}
