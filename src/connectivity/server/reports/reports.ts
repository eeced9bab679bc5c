import type { Report } from '../../../api/agent/report.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { isOutdated, missedReports, type ReportAge } from '../api/check.ts';
import type { AgentPod } from '../pods/agentPod.ts';

/** The last report of one agent, and its counters. */
export interface AgentState {
  /** With `last_updated`. */
  readonly report: Report;
  /** Reports, since the agent was first seen. */
  readonly reportCount: number;
  /** Reports that did not come. */
  readonly errorCount: number;
  /** True if the last report came without a token. */
  readonly anonymous?: boolean;
}

interface Entry extends AgentState {
  /** Monotonic time of the last report, or of its loading, ms. */
  readonly receivedAt: number;
  /** Part of `errorCount` since the last report. */
  readonly missed: number;
  /** The agent has not reported to this process; its report comes from a store. */
  readonly isRestored: boolean;
}

/**
 * The last report of each agent, by the name of its pod. This process is the source; a store keeps the reports over a
 * restart. Ages are monotonic, so that a jump of the clock makes no report old.
 */
export class Reports {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Accepts a report. Returns it with the time of the server. */
  accept(report: Report, anonymous = false): AgentState {
    const before = this.#entries.get(report.podname);
    const entry: Entry = {
      report: { ...report, last_updated: new Date(this.#clock.now()).toISOString() },
      reportCount: (before?.reportCount ?? 0) + 1,
      errorCount: before?.errorCount ?? 0,
      receivedAt: this.#clock.monotonic(),
      missed: 0,
      isRestored: false,
      anonymous,
    };
    this.#entries.set(report.podname, entry);
    return entry;
  }

  /**
   * Adds what a store has of an agent. Its report counts as received now: how long this process was away is not the
   * agent's fault. If the agent has reported meanwhile, only its counters are added.
   */
  restore({ report, reportCount, errorCount, anonymous = false }: AgentState): void {
    const now = this.#entries.get(report.podname);
    this.#entries.set(report.podname, {
      report: now?.report ?? report,
      reportCount: reportCount + (now?.reportCount ?? 0),
      errorCount: errorCount + (now?.errorCount ?? 0),
      receivedAt: now?.receivedAt ?? this.#clock.monotonic(),
      missed: now?.missed ?? 0,
      isRestored: now?.isRestored ?? true,
      anonymous: now?.anonymous ?? anonymous,
    });
  }

  /** Counts the reports that did not come since the last call. */
  countMissed(): void {
    for (const [pod, entry] of this.#entries) {
      const missed = missedReports(this.#ageOf(entry));
      if (missed <= entry.missed) continue;
      this.#entries.set(pod, { ...entry, missed, errorCount: entry.errorCount + missed - entry.missed });
    }
  }

  /** Number of agents. */
  get size(): number {
    return this.#entries.size;
  }

  forget(pod: string): void {
    this.#entries.delete(pod);
  }

  get(pod: string): AgentState | undefined {
    return this.#entries.get(pod);
  }

  /** Whether a pod has reported to this process. A stored report says nothing of the time since it was written. */
  hasReported(pod: string): boolean {
    return this.#entries.get(pod)?.isRestored === false;
  }

  /** The last report of a pod, if it is not older than two intervals. */
  current(pod: string): AgentState | undefined {
    const age = this.ageOf(pod);
    return age !== undefined && !isOutdated(age) ? this.get(pod) : undefined;
  }

  /** Undefined if there is no report of the pod. */
  ageOf(pod: string): ReportAge | undefined {
    const entry = this.#entries.get(pod);
    return entry && this.#ageOf(entry);
  }

  /** By pod. */
  entries(): Iterable<readonly [string, AgentState]> {
    return this.#entries.entries();
  }

  #ageOf({ receivedAt, report }: Entry): ReportAge {
    return { ageMs: this.#clock.monotonic() - receivedAt, intervalMs: report.report_interval * 1_000 };
  }
}

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
