import type { Clock } from '../../../runtime/process/clock.ts';
import { messageOf } from '../../../weights/backend/backend.ts';
import type { AskPrometheus } from '../../../weights/backend/prometheus.ts';
import { judge, type GateResult } from '../../../weights/ramp/ramp.ts';

/** A gate without data is queried again after this time, ms, as often as a backend: not in each reconcile, since each change in the cluster is one. */
export const ASK_AGAIN_MS = 20_000;

interface Gate {
  readonly query: string;
  readonly condition: string;
}

interface Unanswered {
  readonly gate: string;
  readonly result: GateResult;
  readonly until: number;
}

/** Queries the gates of ramps. */
export class Gates {
  readonly #ask: AskPrometheus;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By the name of the TrafficWeight. */
  readonly #unanswered = new Map<string, Unanswered>();

  constructor(ask: AskPrometheus, clock: Pick<Clock, 'monotonic'>) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** Returns the result of the gate of the TrafficWeight `name`. Rejects if `signal` is aborted. */
  async ask(name: string, { query, condition }: Gate, signal: AbortSignal): Promise<GateResult> {
    const gate = JSON.stringify([query, condition]);
    const last = this.#unanswered.get(name);
    if (last?.gate === gate && this.#clock.monotonic() < last.until) return last.result;
    const result = await this.#askNow(query, condition, signal);
    if (result.result !== 'NoData') this.#unanswered.delete(name);
    else this.#unanswered.set(name, { gate, result, until: this.#clock.monotonic() + ASK_AGAIN_MS });
    return result;
  }

  forget(name: string): void {
    this.#unanswered.delete(name);
  }

  async #askNow(query: string, condition: string, signal: AbortSignal): Promise<GateResult> {
    try {
      return judge(await this.#ask(query, signal), condition);
    } catch (error) {
      signal.throwIfAborted();
      return { result: 'NoData', message: messageOf(error) };
    }
  }
}
