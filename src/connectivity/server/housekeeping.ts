import type { V1Pod } from '@kubernetes/client-node';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Reports } from './reports.ts';

interface HousekeepingOptions {
  readonly reports: Reports;
  readonly pods: Pick<Informer<V1Pod>, 'synced' | 'refusal' | 'lister'>;
  readonly store: { pods(): Iterable<string>; gone(pod: string): void };
  readonly ttlMs: number;
}

/** Counts reports that did not come, and forgets agents whose pods are gone. */
export class Housekeeping {
  readonly #o: HousekeepingOptions;
  /** Pods that had a report, as of the last run. */
  #known: ReadonlySet<string> = new Set();

  constructor(options: HousekeepingOptions) {
    this.#o = options;
  }

  /**
   * Call it once each check interval. An agent is forgotten if its pod
   *
   * - was there at the last run, and is not any more
   * - is not there, and the last report is older than the TTL
   *
   * While the pods cannot be read, nothing is forgotten.
   */
  run(): void {
    const { reports, pods, store } = this.#o;
    reports.countMissed();
    if (!pods.synced || pods.refusal !== undefined) return;
    const present = new Set(pods.lister.list().map(({ metadata }) => metadata?.name ?? ''));
    for (const [pod] of [...reports.entries()]) {
      if (!present.has(pod) && this.#isGone(pod)) reports.forget(pod);
    }
    for (const pod of store.pods()) {
      if (!present.has(pod) && reports.get(pod) === undefined) store.gone(pod);
    }
    this.#known = present;
  }

  #isGone(pod: string): boolean {
    const { reports, ttlMs } = this.#o;
    return this.#known.has(pod) || (reports.ageOf(pod)?.ageMs ?? Infinity) > ttlMs;
  }
}
