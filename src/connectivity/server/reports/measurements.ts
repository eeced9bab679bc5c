import type { Report } from '../../../api/agent/report.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Measurement } from '../../protocol/measurement.ts';
import { Compactor } from './compact.ts';

/** The last measurement of an agent. */
export interface KeptMeasurement {
  readonly measurement: Measurement;
  /** Monotonic time of its report, ms. */
  readonly receivedAt: number;
}

/**
 * The last measurement of each agent, by the name of its pod. It is in memory only: after a restart the agents send a
 * new one within an interval.
 */
export class Measurements {
  readonly #clock: Clock;
  readonly #compactor = new Compactor();
  readonly #byPod = new Map<string, KeptMeasurement>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the measurement of a report. A report without one forgets the one before: the agent was replaced. */
  accept({ podname }: Pick<Report, 'podname'>, measurement: Measurement | undefined): void {
    if (measurement === undefined) {
      this.#byPod.delete(podname);
      return;
    }
    const receivedAt = this.#clock.monotonic();
    this.#byPod.set(podname, { measurement: this.#compactor.compact(measurement), receivedAt });
  }

  get(pod: string): KeptMeasurement | undefined {
    return this.#byPod.get(pod);
  }

  /** Forgets the measurements of all other pods. */
  keepOnly(isKept: (pod: string) => boolean): void {
    for (const pod of [...this.#byPod.keys()]) if (!isKept(pod)) this.#byPod.delete(pod);
  }
}
