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

/** A ConnectivityCheck to ask for. */
interface AskedCheck {
  readonly name: string;
  readonly intervalMs: number;
}

export interface EvaluationFeedOptions {
  /** Undefined: there is no server to ask. */
  readonly client: ServerClient | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** All checks. */
  readonly checks: () => readonly AskedCheck[];
  /** A standby does not ask. */
  readonly isLeader: () => boolean;
  /** Called after each request, when requests end since there is no check, and when this replica no longer leads. */
  readonly onChange: () => void;
}

/**
 * Asks the server for the evaluations of all checks, while there is one. Half the shortest interval of the checks, but
 * 2 s at least and 5 s at most, lie between the starts of two asks.
 */
export class EvaluationFeed {
  readonly #options: EvaluationFeedOptions;
  #answer: { readonly evaluations: Evaluations; readonly at: number } | undefined;
  /** Since when answers have no evaluation of a check, by its name: monotonic ms. */
  #lacking = new Map<string, number>();
  #failure: (ServerFailure & { readonly asks: number; readonly since: number }) | undefined;

  constructor(options: EvaluationFeedOptions) {
    this.#options = options;
  }

  /** Returns the state of the server, with the evaluation of the check `name`. */
  view(name: string): ServerView {
    const now = this.#options.clock.monotonic();
    const { evaluations = {}, at } = this.#answer ?? {};
    const failure = this.#failure;
    const lackingSince = this.#lacking.get(name);
    return {
      isDeployed: this.#options.client !== undefined,
      hasAnswered: at !== undefined,
      evaluation: Object.hasOwn(evaluations, name) ? evaluations[name] : undefined,
      lackingMs: lackingSince === undefined ? undefined : now - lackingSince,
      failure: failure && { ...failure, ageMs: now - failure.since, silentMs: now - (at ?? failure.since) },
    };
  }

  /** Whether the last ask was answered; undefined if nothing was asked. */
  get isUp(): boolean | undefined {
    if (this.#failure !== undefined) return false;
    return this.#answer === undefined ? undefined : true;
  }

  /** Asks until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, client, checks, isLeader, onChange } = this.#options;
    let wasLeader = false;
    while (!stop.aborted) {
      const leads = isLeader();
      const given = leads && client !== undefined ? checks() : [];
      const start = clock.monotonic();
      if (client === undefined || given.length === 0) this.#forget();
      else await this.#ask(client, given, stop);
      if (wasLeader && !leads) onChange();
      wasLeader = leads;
      await clock.sleep(given.length === 0 ? IDLE_MS : start + periodOf(given) - clock.monotonic(), stop);
    }
    await client?.close().catch(() => undefined);
  }

  async #ask(client: ServerClient, checks: readonly AskedCheck[], stop: AbortSignal): Promise<void> {
    try {
      this.#answered(await client.ask(stop), checks);
    } catch (error) {
      if (stop.aborted) return;
      this.#failed(error);
    }
    this.#options.onChange();
  }

  #answered(evaluations: Evaluations, checks: readonly AskedCheck[]): void {
    const at = this.#options.clock.monotonic();
    this.#answer = { evaluations, at };
    const lacking = checks.filter(({ name }) => !Object.hasOwn(evaluations, name));
    this.#lacking = new Map(lacking.map(({ name }) => [name, this.#lacking.get(name) ?? at]));
    if (this.#failure !== undefined) this.#options.logger.info('the connectivity server answers again');
    this.#failure = undefined;
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
    this.#answer = undefined;
    this.#lacking = new Map();
    this.#failure = undefined;
    this.#options.onChange();
  }
}

function periodOf(checks: readonly AskedCheck[]): number {
  const shortest = Math.min(...checks.map(({ intervalMs }) => intervalMs));
  return Math.min(LONGEST_PERIOD_MS, Math.max(SHORTEST_PERIOD_MS, shortest / 2));
}
