import type { Clock } from '../../runtime/process/clock.ts';
import type { HttpAnswer } from '../../runtime/server/httpServer.ts';
import { renderAgentMetrics } from '../protocol/agentMetrics.ts';

/** The version of the text format; without it, Prometheus 3 refuses the page. */
const HEADERS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** The metrics of this process. A page costs a few system calls, and does not depend on the number of peers. */
export class OwnMetrics {
  readonly #clock: Clock;
  /** Monotonic, so that a jump of the clock of the node does not change the age; ms. */
  #acceptedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#acceptedAt = clock.monotonic();
  }

  /** Sets the age of the last accepted report to 0. Call it when the server has accepted a report. */
  reportAccepted(): void {
    this.#acceptedAt = this.#clock.monotonic();
  }

  /** The page for Prometheus. */
  page(): HttpAnswer {
    const { user, system } = process.cpuUsage();
    const text = renderAgentMetrics({
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      reportAgeSeconds: (this.#clock.monotonic() - this.#acceptedAt) / 1_000,
    });
    return { status: 200, text, headers: HEADERS };
  }
}
