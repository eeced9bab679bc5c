import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Reports } from './reports.ts';
import type { AgentPod } from '../pods/agentPod.ts';

interface HousekeepingOptions {
  readonly reports: Reports;
  readonly pods: Pick<Informer<AgentPod>, 'synced' | 'refusal' | 'lister' | 'subscribe'>;
  readonly store: { pods(): Iterable<string>; gone(pod: string): void };
  readonly ttlMs: number;
}

/** Counts reports that did not come, and forgets agents whose pods are gone. */
export class Housekeeping {
  readonly #o: HousekeepingOptions;
  /** Pods that were deleted since the last run. A pod may live for less than the time between two runs. */
  readonly #deleted = new Set<string>();

  constructor(options: HousekeepingOptions) {
    this.#o = options;
    options.pods.subscribe(({ type, object }) => {
      if (!object.isListed) return;
      if (type === 'delete') this.#deleted.add(object.name);
      else this.#deleted.delete(object.name);
    });
  }

  /**
   * Counts missed reports, and forgets agents. Call it once each check interval. An agent is forgotten if its pod
   *
   * - was deleted since the last run
   * - does not exist, and the last report is older than the TTL
   *
   * While the pods cannot be read, no agent is forgotten.
   */
  run(): void {
    const { reports, pods, store } = this.#o;
    reports.countMissed();
    if (!pods.synced || pods.refusal !== undefined) return;
    const present = new Set(pods.lister.list().flatMap(({ name, isListed }) => (isListed ? [name] : [])));
    for (const [pod] of [...reports.entries()]) {
      if (!present.has(pod) && this.#isGone(pod)) reports.forget(pod);
    }
    for (const pod of store.pods()) {
      if (!present.has(pod) && reports.get(pod) === undefined) store.gone(pod);
    }
    this.#deleted.clear();
  }

  #isGone(pod: string): boolean {
    const { reports, ttlMs } = this.#o;
    return this.#deleted.has(pod) || (reports.ageOf(pod)?.ageMs ?? Infinity) > ttlMs;
  }
}
