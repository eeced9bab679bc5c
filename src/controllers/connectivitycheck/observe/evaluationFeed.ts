import type { Evaluations } from '../../../connectivity/protocol/evaluation.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { ServerFailure, ServerView } from './observation.ts';
import { ServerError, type ServerClient } from './serverClient.ts';

/** Longest and shortest time between the starts of two asks, ms. */
const LONGEST_PERIOD_MS = 5_000;
const SHORTEST_PERIOD_MS = 2_000;
/** How soon a first check is noticed, ms. Nothing is sent meanwhile. */
const IDLE_MS = 500;

export interface EvaluationFeedOptions {
  readonly client: ServerClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The intervals of all checks, ms. */
  readonly intervals: () => readonly number[];
  /** A standby does not ask. */
  readonly isLeader: () => boolean;
  /** Called after each ask, and when asking ends since there is no check. */
  readonly onChange: () => void;
}

/**
 * Asks the server for the evaluations of all checks, while there is one. Half the shortest interval of the checks, but
 * 2 s at least and 5 s at most, lie between the starts of two asks.
 */
export class EvaluationFeed {
  readonly #options: EvaluationFeedOptions;
  #evaluations: Evaluations | undefined;
  #failure: (ServerFailure & { readonly asks: number; readonly since: number }) | undefined;

  constructor(options: EvaluationFeedOptions) {
    this.#options = options;
  }

  /** What is known of the server, with the evaluation of the check `name`. */
  view(name: string): ServerView {
    const failure = this.#failure;
    const evaluations = this.#evaluations;
    return {
      hasAnswered: evaluations !== undefined,
      evaluation: evaluations !== undefined && Object.hasOwn(evaluations, name) ? evaluations[name] : undefined,
      failure: failure && { ...failure, ageMs: this.#options.clock.monotonic() - failure.since },
    };
  }

  /** Whether the last ask was answered; undefined if nothing was asked. */
  get isUp(): boolean | undefined {
    if (this.#failure !== undefined) return false;
    return this.#evaluations === undefined ? undefined : true;
  }

  /** Asks until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, client, intervals, isLeader } = this.#options;
    while (!stop.aborted) {
      const given = isLeader() ? intervals() : [];
      const start = clock.monotonic();
      if (given.length === 0) this.#forget();
      else await this.#ask(stop);
      await clock.sleep(given.length === 0 ? IDLE_MS : start + periodOf(given) - clock.monotonic(), stop);
    }
    await client.close().catch(() => undefined);
  }

  async #ask(stop: AbortSignal): Promise<void> {
    try {
      this.#evaluations = await this.#options.client.ask(stop);
      if (this.#failure !== undefined) this.#options.logger.info('the connectivity server answers again');
      this.#failure = undefined;
    } catch (error) {
      if (stop.aborted) return;
      this.#failed(error);
    }
    this.#options.onChange();
  }

  #failed(error: unknown): void {
    const { reason, message } =
      error instanceof ServerError ? error : { reason: ConnectivityReason.ServerUnreachable, message: String(error) };
    const before = this.#failure;
    if (before?.reason !== reason)
      this.#options.logger.warn({ reason, detail: message }, 'the connectivity server does not answer');
    const since = before?.since ?? this.#options.clock.monotonic();
    this.#failure = { reason, message, since, asks: (before?.asks ?? 0) + 1 };
  }

  #forget(): void {
    if (this.isUp === undefined) return;
    this.#evaluations = undefined;
    this.#failure = undefined;
    this.#options.onChange();
  }
}

function periodOf(intervals: readonly number[]): number {
  return Math.min(LONGEST_PERIOD_MS, Math.max(SHORTEST_PERIOD_MS, Math.min(...intervals) / 2));
}
