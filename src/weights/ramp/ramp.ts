import { singleValue } from '../backend/prometheus.ts';

/** The reaction to a failed gate: step back to `from`, go back to `from` at once, or stay at this step. */
export type Rollback = 'Gradual' | 'Immediate' | 'Hold';

/** The changes of a weight that are ramped. The other changes are applied at once. */
export type Direction = 'Both' | 'Up';

/** The settings of a ramp. */
export interface RampSettings {
  /** Integer, 1 to 255. */
  readonly step: number;
  /** The time from the moment when a step is active to the next step, ms. */
  readonly intervalMs: number;
  readonly isGated: boolean;
  /** How often the gate may fail during one change. */
  readonly failureLimit: number;
  readonly rollback: Rollback;
  readonly direction: Direction;
}

export type RampPhase = 'Progressing' | 'RollingBack' | 'RolledBack' | 'Held';

/** A change that is in progress, or that its gate has ended. Weights are integers from 0 to 255. */
export interface RampState {
  /** The weight before the change. */
  readonly from: number;
  /** The desired weight. */
  readonly target: number;
  /** The weight of the records in this step. */
  readonly weight: number;
  readonly phase: RampPhase;
  /** How often the gate has failed. */
  readonly failures: number;
  /** When the next step is due, ms since 1970. Undefined until the weight of this step is active, and after the last step. */
  readonly nextStepAt?: number | undefined;
  /** The last result of the gate. Undefined without a gate, or before its first query. */
  readonly gate?: GateResult | undefined;
}

/** The inputs of `nextStep`. */
export interface RampScene {
  /** Undefined: changes are applied at once. */
  readonly settings: RampSettings | undefined;
  /** The weight that the backend asks for. */
  readonly desired: number;
  /** The last weight of the records; undefined if it is not known. Then there is no change to ramp. */
  readonly last: number | undefined;
  /** Undefined if no change is in progress. */
  readonly state: RampState | undefined;
  /** Whether the last weight of the records is active. */
  readonly isInForce: boolean;
  /** Whether it is active now: not while external-dns has not read a record that changed since, such as a record of a new host. */
  readonly isStillInForce: boolean;
  /** Whether a hosted zone cannot be read, so that nobody knows whether it is active. */
  readonly isUnverified: boolean;
  /** When the weight of the records last changed, ms since 1970; undefined if that is not known. */
  readonly lastStepAt?: number | undefined;
  /** ms since 1970. */
  readonly now: number;
}

/** The next step: the weight that the records get now. */
export interface RampStep {
  readonly weight: number;
  /** Undefined: no change is in progress. */
  readonly state?: RampState | undefined;
}

/** The result of `nextStep` if it needs the result of the gate. */
export const ASK_GATE = 'AskGate';

/**
 * Decides the next step of a ramp. It depends on stored state only, so a ramp continues after a restart.
 *
 * | the ramp                                      | weight of the records                                       |
 * |-----------------------------------------------|-------------------------------------------------------------|
 * | no settings, or no weight is known yet        | the desired one                                             |
 * | the desired weight is lower, direction Up     | the desired one                                             |
 * | the step has not been active for the interval | unchanged; a step back waits for the interval only          |
 * | due, and the step is no longer active         | unchanged, until it is active again                         |
 * | unverified                                    | unchanged; an interval after the step, a gate that fails counts as below |
 * | due, and the gate passes, or there is none    | the next step towards the desired weight                    |
 * | due, and the gate has no data                 | unchanged; the gate is asked again                          |
 * | due, and the gate fails within `failureLimit` | unchanged; the gate is asked again after the interval       |
 * | due, and the gate fails once more             | by `rollback`: a step back, `from`, or unchanged            |
 * | rolled back, or held                          | unchanged, until the desired weight changes                 |
 *
 * A change with a gate ends when the gate passes an interval after the last step. If the desired weight changes before that, a
 * new change begins at the present step; its rollback still goes to the weight before the first change.
 *
 * @param gate the present result of the gate; undefined if it was not asked
 */
export function nextStep(scene: RampScene, gate: GateResult): RampStep;
export function nextStep(scene: RampScene, gate?: undefined): RampStep | typeof ASK_GATE;
export function nextStep(scene: RampScene, gate?: GateResult): RampStep | typeof ASK_GATE {
  const { settings, desired } = scene;
  const state = changeOf(scene);
  if (settings === undefined || state === undefined) return { weight: desired };
  if (state.phase === 'RolledBack' || state.phase === 'Held') return stay(state);
  if (scene.isUnverified && state.phase === 'Progressing') return unverified(state, { ...scene, settings }, gate);
  const { nextStepAt } = state;
  if (nextStepAt === undefined || scene.now < nextStepAt) return stay(state);
  if (state.phase === 'RollingBack') return towards(state, state.from, settings);
  // A gate that is asked while records have other weights judges another step.
  if (!scene.isStillInForce) return stay(state);
  if (!settings.isGated) return towards(state, state.target, settings);
  return gate === undefined ? ASK_GATE : judged(state, gate, settings, scene.now);
}

/** Returns the change that is in progress; undefined without a ramped change. */
function changeOf({ settings, desired, last, state, isInForce, lastStepAt, now }: RampScene): RampState | undefined {
  if (settings === undefined || last === undefined) return undefined;
  const isSame = state?.target === desired;
  // Also ends a change that waits for its gate: draining a cluster must not wait for a gate.
  if (settings.direction === 'Up' && desired < last) return undefined;
  if (!isSame && desired === last) return undefined;
  const begun: RampState = { from: last, target: desired, weight: last, phase: 'Progressing', failures: 0 };
  if (state === undefined) {
    if (!isInForce) return begun;
    return { ...begun, nextStepAt: lastStepAt === undefined ? now : Math.max(now, lastStepAt + settings.intervalMs) };
  }
  return isSame ? state : { ...begun, from: state.from, nextStepAt: state.nextStepAt };
}

/**
 * Sets the time of the next step: an interval after the written step is active. A step back does not wait until it is active:
 * a record that cannot be written must not keep the others from going back.
 *
 * @param now ms since 1970
 */
export function withNextStep(
  state: RampState,
  { intervalMs }: Pick<RampSettings, 'intervalMs'>,
  { isInForce, now }: Pick<RampScene, 'isInForce' | 'now'>,
): RampState {
  const isDue = state.phase === 'RollingBack' || (state.phase === 'Progressing' && isInForce);
  return isDue && state.nextStepAt === undefined ? { ...state, nextStepAt: now + intervalMs } : state;
}

function stay(state: RampState): RampStep {
  return { weight: state.weight, state };
}

/** No step follows, and a gate that fails still ends the change: the records may well have the weight of this step. */
function unverified(
  state: RampState,
  { settings, lastStepAt, isStillInForce, now }: RampScene & { readonly settings: RampSettings },
  gate: GateResult | undefined,
): RampStep | typeof ASK_GATE {
  const dueAt = state.nextStepAt ?? (lastStepAt === undefined ? now : lastStepAt + settings.intervalMs);
  if (!settings.isGated || !isStillInForce || now < dueAt) return stay(state);
  if (gate === undefined) return ASK_GATE;
  return gate.result === 'Failed' ? judged(state, gate, settings, now) : stay({ ...state, gate });
}

function judged(state: RampState, gate: GateResult, settings: RampSettings, now: number): RampStep {
  switch (gate.result) {
    case 'NoData':
      return stay({ ...state, gate });
    case 'Passed':
      return towards({ ...state, gate }, state.target, settings);
    case 'Failed': {
      const failed = { ...state, gate, failures: state.failures + 1 };
      if (failed.failures > settings.failureLimit) return rolledBack(failed, settings);
      return stay({ ...failed, nextStepAt: now + settings.intervalMs });
    }
  }
}

function rolledBack(state: RampState, settings: RampSettings): RampStep {
  const ended = { ...state, nextStepAt: undefined };
  switch (settings.rollback) {
    case 'Hold':
      return stay({ ...ended, phase: 'Held' });
    case 'Immediate':
      return reached({ ...ended, weight: state.from }, state.from);
    case 'Gradual':
      return towards({ ...state, phase: 'RollingBack' }, state.from, settings);
  }
}

/** Returns a step towards `end`. The next step is due an interval after this step is active. */
function towards(state: RampState, end: number, { step, isGated }: RampSettings): RampStep {
  const rest = { ...state, nextStepAt: undefined };
  const { weight, target } = state;
  if (weight === end) return reached(rest, end);
  const next = { ...rest, weight: end > weight ? Math.min(end, weight + step) : Math.max(end, weight - step) };
  const isJudgedOnceMore = isGated && state.phase === 'Progressing' && end === target;
  return next.weight === end && !isJudgedOnceMore ? reached(next, end) : stay(next);
}

/** Returns the last step of a change. At the desired weight, no state remains. */
function reached(state: RampState, end: number): RampStep {
  return end === state.target ? { weight: end } : stay({ ...state, phase: 'RolledBack' });
}

/** The result of a gate. */
export type GateResult =
  | { readonly result: 'Passed' | 'Failed'; readonly value: number }
  /** @property message why there is no number */
  | { readonly result: 'NoData'; readonly message: string };

const COMPARISONS: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '==': (value, limit) => value === limit,
  '!=': (value, limit) => value !== limit,
};

/**
 * Returns whether the values of a query meet a condition. The result is NoData unless the query gives one finite number.
 *
 * @param condition a comparison with a number, such as `< 0.01`
 */
export function judge(values: readonly number[], condition: string): GateResult {
  const single = singleValue(values);
  if ('instead' in single) {
    const rule = values.length > 1 ? ': must be one' : '';
    return { result: 'NoData', message: `the query gives ${single.instead}${rule}` };
  }
  const { value } = single;
  const [, operator = '', limit = ''] = /^([<>=!]+) ?(.*)$/.exec(condition) ?? [];
  return { result: COMPARISONS[operator]?.(value, Number(limit)) === true ? 'Passed' : 'Failed', value };
}

/** Significant digits of a value in a message. */
const DIGITS_SHOWN = 4;

/** Returns the value of a failed gate for messages: rounded, unless the rounded value would pass. */
export function valueText(value: number, condition: string): string {
  const rounded = Number(value.toPrecision(DIGITS_SHOWN));
  return String(judge([rounded], condition).result === 'Failed' ? rounded : value);
}
