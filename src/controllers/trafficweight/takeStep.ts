import type { TrafficWeight, TrafficWeightSpec, TrafficWeightStatus } from '../../api/trafficweight/trafficWeight.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { ASK_GATE, nextStep, type RampStep } from '../../weights/ramp/ramp.ts';
import { rampSceneOf } from './decide/ramp.ts';
import { ASK_AGAIN_MS, type Gates } from './observe/gates.ts';

/** What a step needs. */
export interface StepParts {
  readonly gates: Pick<Gates, 'ask'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Decides what the records get, and asks the gate before a step that is due. @param desired what the backend asks for */
export async function takeStep(
  { gates, clock }: StepParts,
  weight: TrafficWeight,
  { spec, desired }: { readonly spec: TrafficWeightSpec; readonly desired: number },
  signal: AbortSignal = new AbortController().signal,
): Promise<RampStep> {
  const scene = rampSceneOf(weight, { spec, desired, now: clock.now() });
  const step = nextStep(scene);
  const gate = spec.ramp?.gate;
  if (step !== ASK_GATE) return step;
  if (gate === undefined) throw new Error('a ramp without a gate asks for none');
  return nextStep(scene, await gates.ask(weight.metadata?.name ?? '', gate, signal));
}

/** Milliseconds until there may be a next step. @param now ms since 1970 */
export function untilNextStep({ ramp }: TrafficWeightStatus, now: number): number {
  if (ramp?.nextStepTime === undefined) return Infinity;
  const ms = Date.parse(ramp.nextStepTime) - now;
  return ms > 0 ? ms : ASK_AGAIN_MS;
}
