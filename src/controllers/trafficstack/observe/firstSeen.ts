import type { Clock } from '../../../runtime/process/clock.ts';
import type { Facts, TimedFacts, TimedFact } from '../model/observation.ts';

const NOTHING: TimedFacts = { available: new Map(), stable: new Map(), awaiting: new Map() };

/**
 * Remembers when this process first observed the present facts about components. The status has only whole seconds, maybe of another clock. After a
 * restart nothing is known, and there are no answers either.
 */
export class FirstSeen {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #seen = new Map<string, TimedFacts>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  of(stack: string): TimedFacts {
    return this.#seen.get(stack) ?? NOTHING;
  }

  /** Keeps the times of unchanged facts, and forgets facts that ended. */
  record(stack: string, { available, stable, awaiting }: Facts): void {
    const known = this.of(stack);
    const now = this.#clock.monotonic();
    this.#seen.set(stack, {
      available: timed(available, known.available, now),
      stable: timed(stable, known.stable, now),
      awaiting: timed(awaiting, known.awaiting, now),
    });
  }

  forget(stack: string): void {
    this.#seen.delete(stack);
  }
}

function timed(
  facts: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, TimedFact>,
  now: number,
): ReadonlyMap<string, TimedFact> {
  return new Map(
    [...facts].map(([name, as]) => {
      const before = known.get(name);
      return [name, before?.as === as ? before : { as, at: now }];
    }),
  );
}
