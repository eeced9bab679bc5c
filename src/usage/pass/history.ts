import { within, type Deadline } from '../../prometheus/deadline.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { DEFAULT_KEY, LEAST_PASSES, NO_READINGS, type Readings } from '../evaluate/reading.ts';
import { withReadings, type Snapshot, type ReadingFigures } from '../evaluate/snapshot.ts';

/** Passes that are read in the time of one pass, with up to three queries over all nodes each: an edit must not flood Prometheus. */
const READ_AT_ONCE = 3;
const READ_AGAIN_AFTER_MS = 60_000;

/** The results that a pass would have had some time ago. */
export type Past = Omit<Snapshot, 'pass' | 'startedAt'>;

/** Reads the results of a pass that would have started at a time, milliseconds since 1970. */
export type ReadPast = (startedAt: number, deadline: Deadline, readings: Readings) => Promise<Past>;

/** Settings of a feed. */
interface HistoryOptions {
  clock: Clock;
  /** Time between the starts of two passes, milliseconds. */
  intervalMs: number;
  /** Deadline of a pass, milliseconds. */
  deadlineMs: number;
  logger: Logger;
}

/** The part of a pass that was read: all of it, or further readings. */
type Found = { readonly past: Snapshot } | { readonly readings: Snapshot['readings'] };

/**
 * Reads passes that were not run, as they would have been, and the readings that kept passes lack. It reads a few of them
 * after each pass, so that no pass waits for it: the newest first that it has not read yet, then those that it read longest ago. So a TrafficWatch that
 * changes its reading in each pass does not keep others from their earlier passes. The figures use the present capacities. What is missing
 * after a failure is read a minute later, also if only the receive rates of a pass failed; until then, verdicts that need
 * more passes wait.
 */
export class History {
  readonly #options: HistoryOptions;
  /** By the number of the pass. */
  #found = new Map<number, Found>();
  /** When each kept pass was read last, by its number: the count of reads until then. */
  #readAt = new Map<number, number>();
  #reads = 0;
  #reading: Promise<void> | undefined;
  /** When the past may be read again after a failure: monotonic milliseconds. */
  #readAgainAt = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** Begins to read some of what the passes lack, unless that is still under way. Call it after each pass that succeeded. */
  read(passes: readonly Snapshot[], asked: PassDemand, readPast: ReadPast, stopped: AbortSignal): void {
    const { clock, deadlineMs, logger } = this.#options;
    if (this.#reading !== undefined || clock.monotonic() < this.#readAgainAt) return;
    const missing = this.#inTurn(passes, asked).slice(0, READ_AT_ONCE);
    if (missing.length === 0) return;
    const limits = { clock, stopped, timeoutMs: deadlineMs };
    this.#reading = within(limits, (deadline) => this.#readAll(missing, readPast, deadline))
      .catch((error: unknown) => {
        this.#readAgainAt = clock.monotonic() + READ_AGAIN_AFTER_MS;
        if (!stopped.aborted) logger.warn({ err: error }, 'earlier passes cannot be read');
      })
      .finally(() => (this.#reading = undefined));
  }

  /** The passes with what was read since the last call, newest first. */
  complete(passes: readonly Snapshot[]): Snapshot[] {
    const found = this.#found;
    this.#found = new Map();
    const all = passes.map((pass) => {
      const more = found.get(pass.pass);
      return more !== undefined && 'readings' in more ? withReadings(pass, more.readings) : pass;
    });
    for (let next = nextOf(all, found); next !== undefined; next = nextOf(all, found)) all.push(next);
    return all;
  }

  /** Resolves when nothing is being read. */
  async settled(): Promise<void> {
    await this.#reading;
  }

  /** The missing passes in the order in which they are read. */
  #inTurn(passes: readonly Snapshot[], asked: PassDemand): MissingPass[] {
    const kept = new Set(passes.map(({ pass }) => pass));
    this.#readAt = new Map([...this.#readAt].filter(([pass]) => kept.has(pass)));
    // Passes that are not kept are read one after the other, or there would be a gap before them.
    const turnOf = ({ pass, isKept }: MissingPass): number => (isKept ? (this.#readAt.get(pass) ?? 0) : 0);
    const missing = missingPasses(passes, asked, this.#options.intervalMs);
    return missing.toSorted((one, other) => turnOf(one) - turnOf(other));
  }

  async #readAll(missing: readonly MissingPass[], readPast: ReadPast, deadline: Deadline): Promise<void> {
    for (const { pass, startedAt, readings, isKept } of missing) {
      const { readings: figures, ...rest } = await readPast(startedAt, deadline, readings);
      const more = succeeded(figures);
      this.#readAt.set(pass, ++this.#reads);
      this.#found.set(
        pass,
        isKept ? { readings: more } : { past: { ...rest, ...(more && { readings: more }), startedAt, pass } },
      );
      throwIfFailed(figures);
    }
  }
}

/** The pass that was read and is the one before the last of these. */
function nextOf(passes: readonly Snapshot[], found: ReadonlyMap<number, Found>): Snapshot | undefined {
  const oldest = passes.at(-1);
  const before = oldest && found.get(oldest.pass - 1);
  return before !== undefined && 'past' in before ? before.past : undefined;
}

type Figures = Snapshot['readings'];

/** The readings whose rates were read, and for which there was time. */
function succeeded(readings: Figures): Figures {
  return readings && new Map([...readings].filter(([, { error, hadNoTime }]) => error === undefined && !hadNoTime));
}

/** @throws Error if the rates of a reading could not be read */
function throwIfFailed(readings: Figures): void {
  for (const { error } of readings?.values() ?? []) {
    if (error !== undefined) throw new Error(error.message);
  }
}

/**
 * The readings and the numbers of passes that are requested. They may change between two passes.
 *
 * An unchanged reading must be the same object: it identifies its compiled patterns. If a reading needs more than two passes,
 * earlier passes that were not run, because the operator was not running or kept fewer, or that lack the reading, are read
 * from Prometheus, a few after each pass. A node that is measured by a veth or macvlan uplink has no data in these. See
 * `asRead` for the results.
 */
export interface PassDemand {
  /** The readings besides the default one. */
  readonly readings: Readings;
  /** Returns the number of passes that are kept of a reading, by its key. At least LEAST_PASSES are kept. */
  passesOf(key: string): number;
}

/** Before anybody asks. */
export const NOTHING_ASKED: PassDemand = { readings: NO_READINGS, passesOf: () => LEAST_PASSES };

/** The fields of a pass that show what it lacks. */
type Kept = Pick<Snapshot, 'pass' | 'startedAt' | 'ok' | 'readings'>;

/** A pass to read from the past. */
interface MissingPass {
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
export function keptPasses(passes: readonly Snapshot[], asked: PassDemand): Snapshot[] {
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
export function missingPasses(passes: readonly Kept[], asked: PassDemand, intervalMs: number): MissingPass[] {
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

function mostPasses(asked: PassDemand): number {
  return Math.max(LEAST_PASSES, ...[DEFAULT_KEY, ...asked.readings.keys()].map((key) => asked.passesOf(key)));
}
