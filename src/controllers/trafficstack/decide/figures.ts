import { StackCondition } from '../../../api/trafficstack/reasons.ts';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStackStatus } from '../../../api/trafficstack/trafficStack.ts';
import { findCondition, type Condition } from '../../../runtime/controller/conditions.ts';

/** What the metrics say about a stack. */
export interface StackFigures {
  /** The condition Ready. */
  readonly ready?: ConditionFigures;
  /** The condition Stalled; undefined while it is Unknown. */
  readonly stalled?: ConditionFigures;
  readonly components: readonly ComponentFigures[];
}

/** A condition that is True or False. */
export interface ConditionFigures {
  readonly isTrue: boolean;
  readonly reason: string;
  /** Seconds since 1970. */
  readonly since: number;
}

/** What the metrics say about a component. */
export interface ComponentFigures {
  readonly name: string;
  readonly state: ComponentState;
  /** Seconds since 1970. */
  readonly since: number;
  /** Pods. */
  readonly desired?: number | undefined;
  readonly available?: number | undefined;
  /** The component at the root of the chain that it waits for. */
  readonly root?: string | undefined;
}

/** The figures of a status. */
export function figuresOf({ components = [], conditions }: TrafficStackStatus): StackFigures {
  return {
    ...known('ready', findCondition(conditions, StackCondition.Ready)),
    ...known('stalled', findCondition(conditions, StackCondition.Stalled)),
    components: components.map(componentFigures),
  };
}

function known<K extends string>(key: K, condition: Condition | undefined): Partial<Record<K, ConditionFigures>> {
  if (condition === undefined || condition.status === 'Unknown') return {};
  const { status, reason, lastTransitionTime } = condition;
  const figures = { isTrue: status === 'True', reason, since: seconds(lastTransitionTime) };
  return { [key]: figures } as Record<K, ConditionFigures>;
}

function componentFigures(component: ComponentStatus): ComponentFigures {
  const { name, state, since, replicas: desired, readyReplicas: available, waitingOn } = component;
  return { name, state, since: seconds(since), desired, available, root: waitingOn?.component };
}

/** @param time RFC 3339 */
function seconds(time: string): number {
  return Date.parse(time) / 1_000;
}
