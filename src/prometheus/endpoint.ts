import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { PrometheusError } from './prometheusError.ts';
import { WatchedFile } from './watchedFile.ts';

/** Where a Prometheus answers and how we show who we are. Files are read again when they change. */
export interface PrometheusEndpoint {
  /** http or https, with a path prefix where there is one; without user:password@, query and fragment. */
  url: string;
  basicAuth?: { username: string; passwordFile: string };
  bearerTokenFile?: string;
  /** PEM; stands in for the system's authorities. */
  caFile?: string;
  /** Sent with each request, such as X-Scope-OrgID. */
  headers?: Record<string, string>;
  /**
   * It is near: answers come as they are. To compress and unpack the megabytes of ten thousand nodes takes both sides
   * longer than it takes a cluster's network to carry them.
   */
  isNear?: boolean;
}

/** What one request carries. */
export interface Credentials {
  headers: Record<string, string>;
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
  /** Texts that no message may contain. */
  secrets: readonly string[];
}

/** A shorter header value is no secret, and hiding it would garble every text. */
const SHORTEST_SECRET = 4;
/** Two queries of a pass side by side, and one beside them now and then. */
const MOST_CONNECTIONS = 4;
const AGENT_OPTIONS = { keepAlive: true, maxSockets: MOST_CONNECTIONS };

/**
 * The URL to ask, without a slash at its end.
 * Throws PrometheusError BadConfiguration that says what is wrong with it, without repeating a password.
 */
export function parseEndpointUrl(text: string): string {
  if (!URL.canParse(text)) throw badUrl('it is no URL, such as http://prometheus.monitoring.svc:9090');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badUrl('it must begin with http:// or https://');
  if (url.username || url.password) throw badUrl('credentials belong into a password file or token file');
  if (url.search || url.hash) throw badUrl('it may have a path, but no query and no fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function badUrl(problem: string): PrometheusError {
  return new PrometheusError('BadConfiguration', `the URL of Prometheus can't be used: ${problem}`);
}

/** Reads what an endpoint's requests carry, and holds its connections. */
export class EndpointCredentials {
  readonly #endpoint: PrometheusEndpoint;
  readonly #password: WatchedFile | undefined;
  readonly #token: WatchedFile | undefined;
  readonly #ca: WatchedFile | undefined;
  readonly #httpAgent = new HttpAgent(AGENT_OPTIONS);
  #httpsAgent = new HttpsAgent(AGENT_OPTIONS);
  #trusted: string | undefined;

  /** Throws PrometheusError BadConfiguration for headers that HTTP does not allow. */
  constructor(endpoint: PrometheusEndpoint) {
    this.#endpoint = endpoint;
    this.#password = watched(endpoint.basicAuth?.passwordFile);
    this.#token = watched(endpoint.bearerTokenFile);
    this.#ca = watched(endpoint.caFile);
    if (this.#password && this.#token) {
      throw new PrometheusError('BadConfiguration', 'a password file and a token file exclude one another');
    }
    checkHeaders(endpoint.headers ?? {});
  }

  /** Throws PrometheusError BadConfiguration where a file can't be read. */
  async read(): Promise<Credentials> {
    const [authorization, secrets] = await this.#authorization();
    const given = this.#endpoint.headers ?? {};
    const headers = {
      ...(this.#endpoint.isNear && { 'Accept-Encoding': 'identity' }),
      ...given,
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    const hidden = [...secrets, ...Object.values(given)].filter((text) => text.length >= SHORTEST_SECRET);
    return { headers, httpAgent: this.#httpAgent, httpsAgent: await this.#agent(), secrets: hidden };
  }

  close(): void {
    this.#httpAgent.destroy();
    this.#httpsAgent.destroy();
  }

  async #authorization(): Promise<[header: string | undefined, secrets: string[]]> {
    const token = await this.#token?.read();
    if (token !== undefined) return [`Bearer ${token}`, [token]];
    const password = await this.#password?.read();
    if (password === undefined) return [undefined, []];
    const pair = Buffer.from(`${this.#endpoint.basicAuth?.username ?? ''}:${password}`).toString('base64');
    return [`Basic ${pair}`, [password, pair]];
  }

  /** A new CA makes a new agent: connections that the old one vouched for are not used again. */
  async #agent(): Promise<HttpsAgent> {
    const ca = await this.#ca?.read();
    if (ca === undefined || ca === this.#trusted) return this.#httpsAgent;
    retire(this.#httpsAgent);
    this.#httpsAgent = new HttpsAgent({ ...AGENT_OPTIONS, ca });
    this.#trusted = ca;
    return this.#httpsAgent;
  }
}

/** Closes idle connections now and busy ones when their answer is there; destroy() would break an answer off. */
function retire(agent: HttpsAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function watched(path: string | undefined): WatchedFile | undefined {
  return path === undefined ? undefined : new WatchedFile(path);
}

function checkHeaders(headers: Record<string, string>): void {
  try {
    new Headers(headers);
  } catch {
    // The exception's message would repeat the value.
    const names = Object.keys(headers).map((name) => JSON.stringify(name));
    throw new PrometheusError(
      'BadConfiguration',
      `extra headers ${names.join(', ')}: a name or value is not allowed in HTTP`,
    );
  }
}
