import { within, type Deadline } from '../../../prometheus/deadline.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { Readings } from '../../evaluate/reading.ts';
import { withReadings, type Snapshot } from '../../evaluate/snapshot.ts';
import { missingPasses, type Asked, type MissingPass } from './kept.ts';

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
  read(passes: readonly Snapshot[], asked: Asked, readPast: ReadPast, stopped: AbortSignal): void {
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
  #inTurn(passes: readonly Snapshot[], asked: Asked): MissingPass[] {
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
