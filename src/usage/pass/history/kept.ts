import { DEFAULT_KEY, LEAST_PASSES, NO_READINGS, type Readings } from '../../evaluate/reading.ts';
import type { ReadingFigures, Snapshot } from '../../evaluate/snapshot.ts';

/** The readings and the numbers of passes that are requested. */
export interface Asked {
  /** The readings besides the default one. */
  readonly readings: Readings;
  /** Returns the number of passes that are kept of a reading, by its key. At least LEAST_PASSES are kept. */
  passesOf(key: string): number;
}

/** Before anybody asks. */
export const NOTHING_ASKED: Asked = { readings: NO_READINGS, passesOf: () => LEAST_PASSES };

/** The fields of a pass that show what it lacks. */
type Kept = Pick<Snapshot, 'pass' | 'startedAt' | 'ok' | 'readings'>;

/** A pass to read from the past. */
export interface MissingPass {
  /** Its number. */
  readonly pass: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The readings that it lacks. */
  readonly readings: Readings;
  /** True if it is kept, and lacks only these readings. */
  readonly isKept: boolean;
}

/**
 * The passes that are kept, and each reading only in as many of them as are asked for: memory grows with the readings, the
 * passes and the nodes.
 * @param passes newest first
 */
export function keptPasses(passes: readonly Snapshot[], asked: Asked): Snapshot[] {
  return passes.slice(0, mostPasses(asked)).map((pass, place) => {
    const isKept = (key: string): boolean => place < LEAST_PASSES || place < asked.passesOf(key);
    if (pass.readings === undefined || [...pass.readings.keys()].every(isKept)) return pass;
    return { ...pass, readings: new Map([...pass.readings].filter(([key]) => isKept(key))) };
  });
}

/**
 * Returns the missing parts of the passes before the newest pass, newest first. Omits passes that would not be kept when the
 * next pass has ended.
 * @param passes newest first; not empty
 * @param intervalMs time between two passes
 */
export function missingPasses(passes: readonly Kept[], asked: Asked, intervalMs: number): MissingPass[] {
  const missing: MissingPass[] = [];
  const oldest = passes.at(-1);
  if (oldest === undefined) return [];
  const most = mostPasses(asked);
  for (let place = 1; place + 1 < most; place++) {
    const kept = passes[place];
    const lacking = [...asked.readings].filter(
      ([key]) => place + 1 < asked.passesOf(key) && !hasFigures(kept?.readings?.get(key)),
    );
    const readings = new Map(lacking);
    const before = place - passes.length + 1;
    if (kept === undefined) {
      const startedAt = oldest.startedAt - before * intervalMs;
      missing.push({ pass: oldest.pass - before, startedAt, readings, isKept: false });
    } else if (kept.ok && readings.size > 0) {
      missing.push({ pass: kept.pass, startedAt: kept.startedAt, readings, isKept: true });
    }
  }
  return missing;
}

/** False also if the pass had no time for the reading. */
function hasFigures(figures: ReadingFigures | undefined): boolean {
  return figures !== undefined && figures.hadNoTime !== true;
}

function mostPasses(asked: Asked): number {
  return Math.max(LEAST_PASSES, ...[DEFAULT_KEY, ...asked.readings.keys()].map((key) => asked.passesOf(key)));
}
