import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { readFile, stat } from 'node:fs/promises';
import { PrometheusError } from './prometheusError.ts';

/** Address and credentials of a Prometheus. Files are read again when they change. */
export interface PrometheusEndpoint {
  /** http or https, optionally with a path prefix. Without user:password@, query and fragment. */
  url: string;
  basicAuth?: { username: string; passwordFile: string };
  bearerTokenFile?: string;
  /** PEM file. Replaces the certificate authorities of the system. */
  caFile?: string;
  /** Sent with each request, such as X-Scope-OrgID. */
  headers?: Record<string, string>;
  /**
   * True if Prometheus runs in the same cluster: then answers are not compressed. With 10,000 nodes, compression takes
   * longer than it takes the cluster network to transfer the uncompressed megabytes.
   */
  isNear?: boolean;
}

/** Headers and connections of one request. */
export interface Credentials {
  headers: Record<string, string>;
  httpAgent: HttpAgent;
  httpsAgent: HttpsAgent;
  /** Texts that must not appear in any message. */
  secrets: readonly string[];
}

/** Shortest text to redact. Shorter header values are not secret, and redacting them would make messages unreadable. */
const SHORTEST_SECRET = 4;
/** A pass sends two queries in parallel, and background queries may run at the same time. */
const MOST_CONNECTIONS = 4;
const AGENT_OPTIONS = { keepAlive: true, maxSockets: MOST_CONNECTIONS };

/**
 * The URL without a trailing slash. Throws PrometheusError BadConfiguration that explains the problem. The message does
 * not quote the URL, which may contain a password.
 */
export function parseEndpointUrl(text: string): string {
  if (!URL.canParse(text)) throw badUrl('it must be a URL, such as http://prometheus.monitoring.svc:9090');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badUrl('it must begin with http:// or https://');
  if (url.username || url.password) throw badUrl('it must not contain credentials, use a password file or token file');
  if (url.search || url.hash) throw badUrl('it can have a path, but no query and no fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function badUrl(problem: string): PrometheusError {
  return new PrometheusError('BadConfiguration', `the URL of Prometheus is invalid: ${problem}`);
}

/** Provides the headers and connections for the requests to an endpoint. */
export class EndpointCredentials {
  readonly #endpoint: PrometheusEndpoint;
  readonly #password: WatchedFile | undefined;
  readonly #token: WatchedFile | undefined;
  readonly #ca: WatchedFile | undefined;
  readonly #httpAgent = new HttpAgent(AGENT_OPTIONS);
  #httpsAgent = new HttpsAgent(AGENT_OPTIONS);
  #trusted: string | undefined;

  /** Throws PrometheusError BadConfiguration for invalid HTTP headers, or for both a password file and a token file. */
  constructor(endpoint: PrometheusEndpoint) {
    this.#endpoint = endpoint;
    this.#password = watched(endpoint.basicAuth?.passwordFile);
    this.#token = watched(endpoint.bearerTokenFile);
    this.#ca = watched(endpoint.caFile);
    if (this.#password && this.#token) {
      throw new PrometheusError('BadConfiguration', 'set either a password file or a token file, not both');
    }
    checkHeaders(endpoint.headers ?? {});
  }

  /** Throws PrometheusError BadConfiguration if a file cannot be read. */
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

  /** Creates a new agent if the CA changed, so that connections that the old CA verified are not reused. */
  async #agent(): Promise<HttpsAgent> {
    const ca = await this.#ca?.read();
    if (ca === undefined || ca === this.#trusted) return this.#httpsAgent;
    retire(this.#httpsAgent);
    this.#httpsAgent = new HttpsAgent({ ...AGENT_OPTIONS, ca });
    this.#trusted = ca;
    return this.#httpsAgent;
  }
}

/** Closes idle connections now, and busy ones after their answer. destroy() would truncate an answer. */
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
    // Do not reuse the message of the exception: it quotes the value, which may be secret.
    const names = Object.keys(headers).map((name) => JSON.stringify(name));
    throw new PrometheusError(
      'BadConfiguration',
      `extra headers ${names.join(', ')}: a name or value has characters that HTTP does not allow`,
    );
  }
}

/**
 * The text of a file that may be replaced at any time. Checks inode, time and size at each read, and reads the file
 * again if they changed. The kubelet replaces a mounted Secret by changing a symbolic link, so the inode changes.
 */
export class WatchedFile {
  readonly #path: string;
  #version = '';
  #text = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** The trimmed text. Throws PrometheusError BadConfiguration if the file cannot be read or is empty. */
  async read(): Promise<string> {
    try {
      const { ino, mtimeMs, size } = await stat(this.#path);
      const version = `${ino} ${mtimeMs} ${size}`;
      if (version !== this.#version) {
        this.#text = (await readFile(this.#path, 'utf8')).trim();
        this.#version = version;
      }
    } catch (error) {
      const { code = 'unknown error' } = error as NodeJS.ErrnoException;
      throw new PrometheusError('BadConfiguration', `cannot read ${this.#path}: ${code}`);
    }
    if (this.#text === '') throw new PrometheusError('BadConfiguration', `${this.#path} is empty`);
    return this.#text;
  }
}
