import { systemClock, type Clock } from '../process/clock.ts';
import type { HttpListener } from './httpListener.ts';
import { createHttpServer, type HttpAnswer, type HttpRequest, type HttpServerOptions } from './httpServer.ts';

/** One health check. */
export interface HealthCheck {
  name: string;
  /** The problem; undefined if there is none. */
  problem(): string | undefined;
}

/** The checks of the two paths, evaluated for each request. */
export interface HealthChecks {
  /** /healthz: if these fail, the process should be restarted. */
  live(): readonly HealthCheck[];
  /** /readyz: if these fail, the process is not ready. */
  ready(): readonly HealthCheck[];
}

/**
 * Serves /healthz and /readyz: 200, or 503 with one line per failing check. With `?verbose` the response also lists the
 * passing checks. The format is the same as in Kubernetes components.
 */
export function createHealthServer(
  options: Omit<HttpServerOptions, 'name' | 'handler'>,
  checks: HealthChecks,
): HttpListener {
  return createHttpServer({ ...options, name: 'health server', handler: (request) => answer(checks, request) });
}

function answer(checks: HealthChecks, { path, query, method }: HttpRequest): HttpAnswer {
  const known = new Map([
    ['/healthz', () => checks.live()],
    ['/readyz', () => checks.ready()],
  ]).get(path);
  if (known === undefined) return { status: 404, text: 'not found\n' };
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, text: 'only GET\n', headers: { allow: 'GET, HEAD' } };
  }
  const { isWell, text } = report(path.slice(1), known(), query.has('verbose'));
  return { status: isWell ? 200 : 503, text };
}

function report(path: string, checks: readonly HealthCheck[], isVerbose: boolean): { isWell: boolean; text: string } {
  const results = checks.map((check) => ({ name: check.name, found: check.problem() }));
  const isWell = results.every(({ found }) => found === undefined);
  if (isWell && !isVerbose) {
    return { isWell, text: 'ok\n' };
  }
  const lines = results
    .filter(({ found }) => isVerbose || found !== undefined)
    .map(({ name, found }) => (found === undefined ? `[+]${name} ok` : `[-]${name} failed: ${found}`));
  return { isWell, text: `${[...lines, `${path} check ${isWell ? 'passed' : 'failed'}`].join('\n')}\n` };
}

const BEAT_MS = 1_000;

/** A longer block of the event loop is unhealthy. The kubelet's probes fail by their own timeout much earlier. */
const BLOCKED_MS = 60_000;

/** How long a block is reported: a probe, every 10 s by default, should see it once. */
const REMEMBERED_MS = 15_000;

/**
 * Detects a blocked event loop. While the loop is blocked, no probe gets a response. This check fails the first probe
 * after the block, and probes while timers are starved.
 */
export class EventLoopWatch implements HealthCheck {
  readonly name = 'eventloop';
  readonly #clock: Clock;
  #beatAt: number;
  #blocked: { forMs: number; until: number } | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#beatAt = clock.monotonic();
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#beatAt = this.#clock.monotonic();
    while (!signal.aborted) {
      await this.#clock.sleep(BEAT_MS, signal);
      this.#note();
      this.#beatAt = this.#clock.monotonic();
    }
  }

  problem(): string | undefined {
    this.#note();
    const now = this.#clock.monotonic();
    if (this.#blocked === undefined || now - this.#blocked.until > REMEMBERED_MS) {
      return undefined;
    }
    return `the event loop stood still for ${Math.round(this.#blocked.forMs / 1000)} s`;
  }

  #note(): void {
    const now = this.#clock.monotonic();
    const forMs = now - this.#beatAt;
    if (forMs > BLOCKED_MS) {
      this.#blocked = { forMs, until: now };
    }
  }
}
