import { Agent, type Dispatcher } from 'undici';
import type { Logger } from '../../../../runtime/process/logger.ts';
import type { EtcdFiles } from './etcdFiles.ts';

interface EtcdClientOptions {
  /** Origins, `https://etcd-0:2379`. */
  readonly endpoints: readonly string[];
  /** For https. */
  readonly files: EtcdFiles;
  /** The file of --etcd-ca, for messages. */
  readonly ca: string | undefined;
  readonly logger: Logger;
}

/** A page of agents is at most 17 MB: see `EtcdStore.list`. */
const MOST_BYTES = 64 * 1024 * 1024;
/** An idle connection is closed before the firewalls between would forget it. */
const IDLE_MS = 60_000;
/** The deadline of a request at each endpoint. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Sends requests to the JSON gateway of etcd v3 (https://etcd.io/docs/v3.7/dev-guide/api_grpc_gateway). Certificates are
 * always verified.
 */
export class EtcdClient {
  readonly #o: EtcdClientOptions;
  #dispatcher: Agent | undefined;
  /** The endpoint that answered last. */
  #current = 0;
  #fileFailure: string | undefined;

  constructor(options: EtcdClientOptions) {
    this.#o = options;
  }

  /**
   * Sends a request to the endpoint that answered last. If it does not answer or has no leader, to the next ones.
   *
   * @param path of the gateway, `/v3/kv/put`
   * @param timeoutMs deadline at each endpoint
   * @returns the parsed answer
   * @throws EtcdError of the first endpoint that refuses the request, or that names all endpoints if none answers
   */
  async call(path: string, body: object, signal: AbortSignal, timeoutMs = REQUEST_TIMEOUT_MS): Promise<unknown> {
    const { endpoints } = this.#o;
    const dispatcher = await this.#connections();
    const failures: EtcdError[] = [];
    for (const endpoint of [...endpoints.slice(this.#current), ...endpoints.slice(0, this.#current)]) {
      if (signal.aborted) break;
      try {
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
        return await this.#ask(dispatcher, `${endpoint}${path}`, body, deadline);
      } catch (error) {
        if (!(error instanceof EtcdError) || !error.isOfEndpoint) throw error;
        failures.push(error);
        this.#current = (this.#current + 1) % endpoints.length;
      }
    }
    throw allFailed(failures);
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  async #ask(dispatcher: Dispatcher, url: string, body: object, signal: AbortSignal): Promise<unknown> {
    const { origin, pathname } = new URL(url);
    const headers = { 'content-type': 'application/json' };
    const options = { origin, path: pathname, method: 'POST', headers, body: JSON.stringify(body), signal } as const;
    const { statusCode, text } = await this.#answer(dispatcher, options).catch((error: unknown) => {
      throw connectionError(origin, error, this.#o.ca);
    });
    const answer = parsed(text);
    if (statusCode === 200 && answer !== undefined) return answer;
    const status = answer === undefined ? BAD_GATEWAY : statusCode;
    throw new EtcdError(`etcd at ${origin}: ${refusal(statusCode, pathname, answer)}`, status);
  }

  async #answer(
    dispatcher: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<{ statusCode: number; text: string }> {
    const { statusCode, body } = await dispatcher.request(options);
    return { statusCode, text: await body.text() };
  }

  /** Returns the connections, new ones if a file changed. Keeps the old ones if the new files cannot be used, as during their replacement. */
  async #connections(): Promise<Agent> {
    try {
      const tls = await this.#o.files.changed();
      this.#fileFailure = undefined;
      if (tls === undefined && this.#dispatcher !== undefined) return this.#dispatcher;
      const before = this.#dispatcher;
      this.#dispatcher = new Agent({
        connections: 2,
        keepAliveTimeout: IDLE_MS,
        maxResponseSize: MOST_BYTES,
        connect: { ...tls, rejectUnauthorized: true },
      });
      await before?.close();
    } catch (error) {
      if (this.#dispatcher === undefined) throw error;
      this.#warn(error);
    }
    return this.#dispatcher;
  }

  #warn(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message === this.#fileFailure) return;
    this.#fileFailure = message;
    this.#o.logger.warn({ err: error }, 'the changed files for etcd are not used, but those before');
  }
}

function allFailed(failures: readonly EtcdError[]): EtcdError {
  const [first] = failures;
  if (first !== undefined && failures.length === 1) return first;
  return new EtcdError(failures.length === 0 ? 'the request was cancelled' : failures.map((e) => e.message).join('; '));
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Not by etcd, but by what is in its place. */
const BAD_GATEWAY = 502;

function refusal(status: number, path: string, answer: object | undefined): string {
  if (answer !== undefined && 'message' in answer) return `${path} is answered ${status}: ${String(answer.message)}`;
  return `${path} is answered ${status} and no JSON; must be etcd 3.4 or later with --enable-grpc-gateway=true`;
}

/** A request to etcd that failed. The message names the endpoint. */
export class EtcdError extends Error {
  /** HTTP status of the answer; undefined without an answer. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EtcdError';
    this.status = status;
  }

  /** True if another member of the cluster may answer better: no answer, or a server error such as "no leader". */
  get isOfEndpoint(): boolean {
    return this.status === undefined || this.status >= 500;
  }
}

/** The codes of Node.js for an endpoint's certificate that is not trusted; for codes of OpenSSL, see verify(1). */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
];

/**
 * Explains a connection that failed:
 *
 * | failure | message |
 * |---|---|
 * | the certificate is not signed by a trusted CA | names --etcd-ca, or the CAs of the system |
 * | the certificate is for other names | names the host and --etcd-endpoints |
 * | else | the words of Node.js |
 *
 * @param ca the file of --etcd-ca; undefined: the CAs of the system
 */
function connectionError(endpoint: string, error: unknown, ca: string | undefined): EtcdError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new EtcdError(`etcd at ${endpoint}: ${explained(endpoint, code, message, ca)}`, undefined, { cause: error });
}

function explained(endpoint: string, code: string, message: string, ca: string | undefined): string {
  if (UNTRUSTED.includes(code)) {
    const authority = ca === undefined ? 'a CA of the system; set --etcd-ca' : `the CA in --etcd-ca=${ca}`;
    return `its certificate is refused: it is not signed by ${authority} (${message})`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const { hostname } = new URL(endpoint);
    return `its certificate is refused: it is not for ${hostname}, the host in --etcd-endpoints (${message})`;
  }
  return code === '' || message.includes(code) ? message : `${message} (${code})`;
}
