import { ASK_GATE, nextStep, withNextStep, type GateResult, type RampSettings, type RampState } from '../ramp.ts';

export const INTERVAL_MS = 120_000;
export const SETTINGS: RampSettings = {
  ...{ step: 10, intervalMs: INTERVAL_MS, isGated: true, failureLimit: 0, rollback: 'Immediate', direction: 'Both' },
};
export const PASSED: GateResult = { result: 'Passed', value: 0 };
export const FAILED: GateResult = { result: 'Failed', value: 1 };
export const NO_DATA: GateResult = { result: 'NoData', message: 'no series' };

/** A TrafficWeight whose records follow a ramp. */
export class Ramped {
  settings: RampSettings | undefined;
  desired = 0;
  weight: number | undefined = 0;
  state: RampState | undefined;
  now = 0;
  gate = PASSED;
  asked = 0;
  lastStepAt: number | undefined;
  /** Whether external-dns reads the records. */
  isRead = true;
  /** Whether a hosted zone cannot be read. */
  isUnverified = false;

  constructor(settings: Partial<RampSettings> = {}) {
    this.settings = { ...SETTINGS, ...settings };
  }

  /** One reconcile. */
  reconcile(): void {
    const { settings, desired, state, now, isRead, isUnverified } = this;
    const { weight: last, lastStepAt } = this;
    const isKnown = isRead && !isUnverified;
    const facts = { isInForce: isKnown, isStillInForce: isRead, isUnverified };
    const scene = { settings, desired, last, state, ...facts, lastStepAt, now };
    let step = nextStep(scene);
    if (step === ASK_GATE) {
      this.asked += 1;
      step = nextStep(scene, this.gate);
    }
    if (step.weight !== last) this.lastStepAt = now;
    this.weight = step.weight;
    this.state = step.state && settings && withNextStep(step.state, settings, { isInForce: isKnown, now });
  }

  /** The weights after each of some intervals. */
  run(intervals: number): (number | undefined)[] {
    return Array.from({ length: intervals }, () => {
      this.reconcile();
      this.now += INTERVAL_MS;
      return this.weight;
    });
  }
}
