import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Facts, Seen, Sighting } from '../observation.ts';

const NOTHING: Seen = { available: new Map(), settled: new Map(), awaiting: new Map() };

/**
 * Since when this process sees of each component of a stack what it sees now. That is not in the status: `since` has whole seconds,
 * and may be of the clock of another process. After a restart nothing is known, and no answer is left either.
 */
export class Sightings {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  of(stack: string): Seen {
    return this.#seen.get(stack) ?? NOTHING;
  }

  /** Keeps the time of each fact that is as it was, and forgets those that are not there any more. */
  record(stack: string, { available, settled, awaiting }: Facts): void {
    const known = this.of(stack);
    const now = this.#clock.monotonic();
    this.#seen.set(stack, {
      available: timed(available, known.available, now),
      settled: timed(settled, known.settled, now),
      awaiting: timed(awaiting, known.awaiting, now),
    });
  }

  forget(stack: string): void {
    this.#seen.delete(stack);
  }
}

function timed(
  facts: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, Sighting>,
  now: number,
): ReadonlyMap<string, Sighting> {
  return new Map(
    [...facts].map(([name, as]) => {
      const before = known.get(name);
      return [name, before?.as === as ? before : { as, at: now }];
    }),
  );
}
