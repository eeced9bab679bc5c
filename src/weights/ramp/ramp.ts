import type { GateResult } from './gate.ts';

/** What happens when the gate of a ramp fails: back in steps, back at once, or nothing more. */
export type Rollback = 'Gradual' | 'Immediate' | 'Hold';

/** Which changes of a weight are ramped. The others are applied at once. */
export type Direction = 'Both' | 'Up';

/** How a change of the weight proceeds. */
export interface RampSettings {
  /** Integer, 1 to 255. */
  readonly step: number;
  /** From a step that is in force to the next one, ms. */
  readonly intervalMs: number;
  readonly isGated: boolean;
  /** How often the gate may fail during one change. */
  readonly failureLimit: number;
  readonly rollback: Rollback;
  readonly direction: Direction;
}

export type RampPhase = 'Progressing' | 'RollingBack' | 'RolledBack' | 'Held';

/** A change that is under way, or that its gate has ended. Weights are integers from 0 to 255. */
export interface RampState {
  /** The last weight that was reached before. */
  readonly from: number;
  /** The desired weight. */
  readonly target: number;
  /** Of this step: the weight of the records. */
  readonly weight: number;
  readonly phase: RampPhase;
  /** How often the gate has failed. */
  readonly failures: number;
  /** When the next step is due, ms since 1970. Undefined until the weight of this one is in force, and after the last. */
  readonly nextStepAt?: number | undefined;
  /** What the gate said last. Undefined without a gate, or before it was asked. */
  readonly gate?: GateResult | undefined;
}

/** What decides about the next step. */
export interface RampScene {
  /** Undefined: changes are applied at once. */
  readonly settings: RampSettings | undefined;
  /** The weight that the backend asks for. */
  readonly desired: number;
  /** The weight that the records were given last; undefined if none is known. Then there is no change to ramp. */
  readonly last: number | undefined;
  /** Undefined if no change is under way. */
  readonly state: RampState | undefined;
  /** Whether the weight `last` is in force, if no change is under way. */
  readonly isInForce: boolean;
  /** When the records were last given another weight, ms since 1970; undefined if that is not known. */
  readonly lastStepAt?: number | undefined;
  /** ms since 1970. */
  readonly now: number;
}

/** What the records get now. */
export interface RampStep {
  readonly weight: number;
  /** Undefined: no change is under way. */
  readonly state?: RampState | undefined;
}

/** The gate has to be asked before it can be said what the records get. */
export const ASK_GATE = 'AskGate';

/**
 * Decides the next step of a ramp. It is a function of the stored state, so a restart goes on where it was.
 *
 * | the ramp                                      | weight of the records                                       |
 * |-----------------------------------------------|-------------------------------------------------------------|
 * | no settings, or no weight is known yet        | the desired one                                             |
 * | the desired weight is lower, direction Up     | the desired one                                             |
 * | a step is not in force yet, or not for the interval | that of this step; a step back only has to be old enough |
 * | due, and the gate passes, or there is none    | the next step towards the desired weight                    |
 * | due, and the gate has no data                 | that of this step; the gate is asked again                  |
 * | due, and the gate fails within `failureLimit` | that of this step; the gate is asked again after the interval |
 * | due, and the gate fails once more             | by `rollback`: a step back, `from`, or that of this step    |
 * | rolled back, or held                          | as it is, until another weight is desired                   |
 *
 * A change with a gate ends when the gate has passed an interval after the last step. A desired weight that changes on the
 * way begins a new change from the step that is reached; a rollback still goes to the weight before the first one.
 *
 * @param gate what the gate says now; undefined if it was not asked
 */
export function nextStep(scene: RampScene, gate: GateResult): RampStep;
export function nextStep(scene: RampScene, gate?: undefined): RampStep | typeof ASK_GATE;
export function nextStep(scene: RampScene, gate?: GateResult): RampStep | typeof ASK_GATE {
  const { settings, desired } = scene;
  const state = changeOf(scene);
  if (settings === undefined || state === undefined) return { weight: desired };
  if (state.phase === 'RolledBack' || state.phase === 'Held') return stay(state);
  const { nextStepAt } = state;
  if (nextStepAt === undefined || scene.now < nextStepAt) return stay(state);
  if (state.phase === 'RollingBack') return towards(state, state.from, settings);
  if (!settings.isGated) return towards(state, state.target, settings);
  return gate === undefined ? ASK_GATE : judged(state, gate, settings, scene.now);
}

/** The change that is under way; undefined if there is none, or none that is ramped. */
function changeOf({ settings, desired, last, state, isInForce, lastStepAt, now }: RampScene): RampState | undefined {
  if (settings === undefined || last === undefined) return undefined;
  const isSame = state?.target === desired;
  // Also one that is held up: a cluster that is drained must not wait for a gate.
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
 * Decides when the step after the one that was just written is due: an interval after it is in force. A step back does not wait
 * for that: a record that cannot be written must not keep the others from going back.
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

/** A step to `end`. The next one is due an interval after it is in force. */
function towards(state: RampState, end: number, { step, isGated }: RampSettings): RampStep {
  const rest = { ...state, nextStepAt: undefined };
  const { weight, target } = state;
  if (weight === end) return reached(rest, end);
  const next = { ...rest, weight: end > weight ? Math.min(end, weight + step) : Math.max(end, weight - step) };
  const isJudgedOnceMore = isGated && state.phase === 'Progressing' && end === target;
  return next.weight === end && !isJudgedOnceMore ? reached(next, end) : stay(next);
}

/** The end of a change: at the desired weight nothing is left of it. */
function reached(state: RampState, end: number): RampStep {
  return end === state.target ? { weight: end } : stay({ ...state, phase: 'RolledBack' });
}
