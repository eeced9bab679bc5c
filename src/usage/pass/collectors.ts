import type { UsageCollector } from './usageCollector.ts';
import type { UsageQuery } from './queries.ts';

/** The collector of the present settings: after other ones, a new one, since facts and labels of one Prometheus say nothing of another. */
export class Collectors {
  readonly #query: () => UsageQuery;
  readonly #create: (query: UsageQuery) => UsageCollector;
  readonly #retired: Promise<void>[] = [];
  #present: { readonly query: UsageQuery; readonly collector: UsageCollector };

  /** @param query returns the same object as long as the settings are the same */
  constructor(query: () => UsageQuery, create: (query: UsageQuery) => UsageCollector) {
    this.#query = query;
    this.#create = create;
    const first = query();
    this.#present = { query: first, collector: create(first) };
  }

  /** For the next pass. */
  current(): UsageCollector {
    const query = this.#query();
    if (query !== this.#present.query) {
      this.#retired.push(this.#present.collector.settled());
      this.#present = { query, collector: this.#create(query) };
    }
    return this.#present.collector;
  }

  /** Resolves when no background query is running. */
  async settled(): Promise<void> {
    await Promise.all([...this.#retired, this.#present.collector.settled()]);
  }
}
