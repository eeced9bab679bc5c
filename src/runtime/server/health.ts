import { systemClock, type Clock } from '../process/clock.ts';
import type { HttpListener } from './httpListener.ts';
import { createHttpServer, type HttpAnswer, type HttpRequest, type HttpServerOptions } from './httpServer.ts';

/** One thing that must be well. */
export interface HealthCheck {
  name: string;
  /** What is wrong, or undefined when nothing is. */
  problem(): string | undefined;
}

/** The checks behind the two paths, asked anew for each request. */
export interface HealthChecks {
  /** /healthz: a process that fails these is to be restarted. */
  live(): readonly HealthCheck[];
  /** /readyz: a process that fails these is not ready yet. */
  ready(): readonly HealthCheck[];
}

/**
 * Answers /healthz and /readyz: 200, or 503 with a line a failing check. With `?verbose` the ones that are well are
 * listed, too. The text is that of Kubernetes' own components.
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

/** A loop that stood still this long is ill; a probe of the kubelet's fails by its own timeout long before. */
const BLOCKED_MS = 60_000;

/** How long it is remembered: a probe, every 10 s by default, is to see it once. */
const REMEMBERED_MS = 15_000;

/**
 * Notices that the event loop stood still. While it does, no probe is answered; this tells the first one after it,
 * and one who asks while timers are starved.
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
