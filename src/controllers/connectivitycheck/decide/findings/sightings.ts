import type { Finding } from '../../../../api/connectivitycheck/finding.ts';
import { faultId, type Fault } from './fault.ts';

/** A Degraded finding that comes back within this time is the same finding; after it, a new one: ms. */
export const BACK_WITHIN_MS = 10 * 60_000;
/** Once is chance: one of many reports had little loss. A fault that has ended is then cleared at once. */
const RETURNS = 2;

/** When an evaluation last had a Degraded finding. */
export interface Sighting {
  /** Monotonic ms. */
  readonly at: number;
  /** The last evaluation has it. */
  readonly isPresent: boolean;
  /** How often it was gone and came back. */
  readonly returns: number;
}

/** By class and `faultId`, for one check. */
export type Sightings = ReadonlyMap<string, Sighting>;

/**
 * Remembers which Degraded findings the last evaluations had.
 *
 * | before                             | now   | sighting                  |
 * | ---------------------------------- | ----- | ------------------------- |
 * | none, or gone for longer           | found | present                   |
 * | present                            | found | present                   |
 * | gone for less than BACK_WITHIN_MS  | found | present, one return more  |
 * | present, or gone for less than that | gone | gone                      |
 * | gone for longer                    | gone  | none                      |
 *
 * @param now monotonic ms
 */
export function sightingsOf(before: Sightings, findings: readonly Finding[], now: number): Sightings {
  const kept = [...before].filter(([, { at }]) => now - at <= BACK_WITHIN_MS);
  const sightings = new Map(kept.map(([key, sighting]) => [key, { ...sighting, isPresent: false }]));
  const recent = new Map(kept);
  for (const finding of findings.filter(({ severity }) => severity === 'Degraded')) {
    const { isPresent = true, returns = 0 } = recent.get(keyOf(finding)) ?? {};
    sightings.set(keyOf(finding), { at: now, isPresent: true, returns: returns + (isPresent ? 0 : 1) });
  }
  return sightings;
}

/** Whether a finding comes and goes, so that it is expected back when the last evaluation lacks it. */
export function isIntermittent(finding: Finding & Fault, sightings: Sightings): boolean {
  const { returns = 0 } = sightings.get(keyOf(finding)) ?? {};
  return finding.severity === 'Degraded' && returns >= RETURNS;
}

function keyOf(fault: Fault): string {
  return `${fault.class}/${fault.id ?? faultId(fault)}`;
}
