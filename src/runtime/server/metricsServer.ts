import type { Registry } from 'prom-client';
import { createHash } from 'node:crypto';
import { type BindAddress, type HttpListener, serverPart } from './httpListener.ts';
import type { Client } from '../client/client.ts';
import { type Clock, systemClock } from '../process/clock.ts';
import {
  createHttpServer,
  createHttpsListener,
  type HttpAnswer,
  type HttpHandler,
  type HttpMetrics,
} from './httpServer.ts';
import type { Logger } from '../process/logger.ts';
import type { Part } from '../process/part.ts';
import { readCertificate, renewalPart } from './certificate.ts';
import { SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS } from '../client/resources.ts';

/** Settings for metrics over TLS. */
export interface SecureOptions {
  /** Directory with tls.crt and tls.key. */
  certPath: string;
  /** Whether HTTP/2 is enabled. */
  http2: boolean;
  /** Client for authorization requests. Not limited to the leader, because Prometheus also scrapes a standby. */
  client: Client;
}

interface MetricsServerOptions {
  address: BindAddress;
  registry: Registry;
  metrics: HttpMetrics;
  logger: Logger;
  /** Without it: plain HTTP without authorization. */
  secure?: SecureOptions;
  clock?: Clock;
}

const NAME = 'metrics server';

const REFUSALS: Record<Exclude<Verdict, 'allowed'>, HttpAnswer> = {
  unauthenticated: { status: 401, text: 'unauthenticated\n', headers: { 'www-authenticate': 'Bearer' } },
  forbidden: { status: 403, text: 'forbidden\n' },
  busy: { status: 503, text: 'busy\n', headers: { 'retry-after': '5' } },
};

/** The server and its parts. */
export interface MetricsServer {
  readonly listener: HttpListener;
  /** For the manager. */
  readonly parts: readonly Part[];
}

/**
 * Serves GET /metrics: over plain HTTP to every client or, with `secure`, over TLS to clients that the API server
 * authorizes.
 *
 * @throws UsageError if the certificate is unusable
 */
export async function createMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { secure, registry, address, metrics, logger, clock } = options;
  const server = { name: NAME, address, metrics, logger };
  if (secure === undefined) {
    const listener = createHttpServer({ ...server, handler: answerer(registry) });
    return { listener, parts: [serverPart(listener)] };
  }
  const source = {
    directory: secure.certPath,
    flag: '--metrics-cert-path',
    needs: 'with --metrics-secure it must hold',
  };
  const certificate = await readCertificate(source);
  const access = new MetricsAccess(secure.client, logger, clock);
  const handler = answerer(registry, access);
  const https = createHttpsListener({ ...server, handler }, { ...certificate, http2: secure.http2 });
  const renewal = renewalPart({
    name: 'metrics certificate',
    server: https,
    first: certificate,
    source,
    logger,
    clock,
  });
  return { listener: https.listener, parts: [serverPart(https.listener), renewal] };
}

function answerer(registry: Registry, access?: MetricsAccess): HttpHandler {
  return async ({ path, method, authorization }) => {
    if (path !== '/metrics') return { status: 404, text: 'not found\n' };
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, text: 'only GET\n', headers: { allow: 'GET, HEAD' } };
    }
    const verdict = (await access?.verdictOn(authorization)) ?? 'allowed';
    if (verdict !== 'allowed') return REFUSALS[verdict];
    return { status: 200, text: await registry.metrics(), headers: { 'content-type': registry.contentType } };
  };
}

/** Whether a request may read the metrics. `busy`: too many reviews, or no response of the API server. */
type Verdict = 'allowed' | 'unauthenticated' | 'forbidden' | 'busy';

/** How long a positive result is cached. Scrapers come every 15 to 60 s; revoked access ends within a minute. */
const ALLOWED_MS = 60_000;
const REFUSED_MS = 10_000;

/** Maximum of cached results; the oldest are dropped. */
const MOST_REMEMBERED = 1_000;

/** Maximum of concurrent reviews, so that invalid tokens cannot use up the operator's own calls. */
const MOST_REVIEWS = 4;

/**
 * Asks the API server whether a client may read the metrics. The client needs a valid bearer token (TokenReview) and
 * the right to `get` the non-resource URL /metrics (SubjectAccessReview), as in controller-runtime's
 * WithAuthenticationAndAuthorization.
 */
class MetricsAccess {
  readonly #client: Client;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #known = new Map<string, { verdict: Verdict; until: number }>();
  #reviews = 0;
  /** Error of the last review; undefined after a successful review. */
  #failure: string | undefined;

  constructor(client: Client, logger: Logger, clock: Clock = systemClock) {
    this.#client = client;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** @param authorization the request's header; never rejects */
  async verdictOn(authorization: string | undefined): Promise<Verdict> {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      return 'unauthenticated';
    }
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined && known.until > this.#clock.monotonic()) {
      return known.verdict;
    }
    if (this.#reviews >= MOST_REVIEWS) {
      return 'busy';
    }
    const verdict = await this.#ask(token);
    this.#remember(key, verdict);
    return verdict;
  }

  async #ask(token: string): Promise<Verdict> {
    this.#reviews++;
    try {
      const verdict = await this.#review(token);
      this.#failure = undefined;
      return verdict;
    } catch (error) {
      this.#tellOf(error);
      return 'busy';
    } finally {
      this.#reviews--;
    }
  }

  /** Logs an error once until it changes: any client can cause it, and scrapers repeat their requests. */
  #tellOf(error: unknown): void {
    const failure = error instanceof Error ? error.message : String(error);
    if (failure !== this.#failure) {
      this.#failure = failure;
      this.#logger.error({ err: error }, 'cannot ask the API server whether a client may read the metrics');
    }
  }

  async #review(token: string): Promise<Verdict> {
    const { status } = await this.#client.create(TOKEN_REVIEWS, { spec: { token } });
    if (status?.authenticated !== true || status.user?.username === undefined) {
      return 'unauthenticated';
    }
    const { username: user, groups, uid, extra } = status.user;
    const nonResourceAttributes = { path: '/metrics', verb: 'get' };
    const review = await this.#client.create(SUBJECT_ACCESS_REVIEWS, {
      spec: { user, groups, uid, extra, nonResourceAttributes },
    });
    return review.status?.allowed === true ? 'allowed' : 'forbidden';
  }

  #remember(key: string, verdict: Verdict): void {
    if (verdict === 'busy') {
      return;
    }
    const until = this.#clock.monotonic() + (verdict === 'allowed' ? ALLOWED_MS : REFUSED_MS);
    this.#known.delete(key);
    this.#known.set(key, { verdict, until });
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MOST_REMEMBERED) {
      this.#known.delete(oldest);
    }
  }
}
