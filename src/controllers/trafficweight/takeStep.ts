import type { TrafficWeight, TrafficWeightSpec, TrafficWeightStatus } from '../../api/trafficweight/trafficWeight.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import { longestTtl, type DnsEndpoint } from '../../weights/records/endpoint.ts';
import { ASK_GATE, nextStep, type RampStep } from '../../weights/ramp/ramp.ts';
import { rampSceneOf } from './decide/ramp.ts';
import { BY_OWNER } from './observe/caches.ts';
import { ASK_AGAIN_MS, type Gates } from './observe/gates.ts';

/** The dependencies of `takeStep`. */
export interface StepParts {
  readonly gates: Pick<Gates, 'ask'>;
  readonly endpoints: Pick<Overlay<DnsEndpoint>, 'byIndex'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Decides the step of the records, and queries the gate before a step that is due. @param desired the weight that the backend requests */
export async function takeStep(
  { gates, endpoints, clock }: StepParts,
  weight: TrafficWeight,
  { spec, desired }: { readonly spec: TrafficWeightSpec; readonly desired: number },
  signal: AbortSignal = new AbortController().signal,
): Promise<RampStep> {
  const name = weight.metadata?.name ?? '';
  // There may be thousands of records, which only a ramp has to look at.
  const publishedTtl = spec.ramp === undefined ? 0 : longestTtl(endpoints.byIndex(BY_OWNER, name));
  const scene = rampSceneOf(weight, { spec, desired, publishedTtl, now: clock.now() });
  const step = nextStep(scene);
  const gate = spec.ramp?.gate;
  if (step !== ASK_GATE) return step;
  if (gate === undefined) throw new Error('a ramp without a gate does not query one');
  return nextStep(scene, await gates.ask(name, gate, signal));
}

/** Returns the milliseconds until the next step may be due. @param now ms since 1970 */
export function untilNextStep({ ramp }: TrafficWeightStatus, now: number): number {
  if (ramp?.nextStepTime === undefined) return Infinity;
  const ms = Date.parse(ramp.nextStepTime) - now;
  return ms > 0 ? ms : ASK_AGAIN_MS;
}
