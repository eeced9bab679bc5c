import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { HostAndPort } from '../../options/connectivityValues.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { NameLookup } from '../../runtime/process/nameLookup.ts';
import { readTextFile } from '../../runtime/process/textFile.ts';
import type { Assignment } from '../protocol/measurement.ts';
import { ASSIGNMENT_LIMIT_BYTES, readAssignment } from './assignment.ts';
import type { SentReport } from './collect.ts';

export interface SenderOptions {
  readonly server: HostAndPort;
  readonly podName: string;
  /** PEM of the authority of the server; undefined: plain HTTP. */
  readonly serverCaFile: string | undefined;
  /** Token that says which pod reports. */
  readonly tokenFile: string | undefined;
  readonly names: NameLookup;
  readonly logger: Logger;
}

/** Whether the server accepted a report, and what it assigned if it did so. */
export interface Sent {
  readonly ok: boolean;
  /** Whether the server found the report invalid: its contents must not be sent again. */
  readonly isInvalid?: boolean;
  readonly assignment?: Assignment;
}

interface Answer {
  readonly status: number;
  readonly isJson: boolean;
  readonly text: string;
}

interface PostLimits {
  readonly signal: AbortSignal;
  /** For the DNS, if the connection is new. */
  readonly lookupMs: number;
}

/** The server cannot have a token verified now. */
const UNVERIFIABLE = 503;
/** How long a new connection waits for the DNS before it uses the addresses that were last known, ms. */
const MOST_LOOKUP_MS = 1_000;

/**
 * How long a connection is kept for the next report, ms: for the longest interval. A server may announce less, in the header
 * Keep-Alive; Node.js heeds it only if this is set. Without it a report may meet a connection that the server just closes.
 */
const KEPT_MS = 3_600_000;

/**
 * Sends reports on one connection, which it keeps for as long as the server does. A silent DNS of the cluster is to be reported, so a new connection
 * then uses the addresses that were last known.
 */
export class ReportSender {
  readonly #o: SenderOptions;
  #agent: HttpAgent | undefined;
  /** The token of the last report that was accepted. */
  #accepted: string | undefined;

  constructor(o: SenderOptions) {
    this.#o = o;
  }

  /**
   * Logs a failure. Never rejects.
   *
   * | answer | result |
   * |---|---|
   * | none, or not 200 | not ok |
   * | 400 | not ok, invalid |
   * | 200 without JSON, as of an original server | ok |
   * | 200 with a valid assignment | ok, with the assignment |
   * | 200 with JSON that is no assignment | ok |
   */
  async send(report: SentReport, timeoutMs: number, signal: AbortSignal): Promise<Sent> {
    const { logger, server } = this.#o;
    try {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const limits = { signal: deadline, lookupMs: Math.min(MOST_LOOKUP_MS, timeoutMs / 4) };
      const answer = await this.#postWithToken(JSON.stringify(report), limits);
      if (answer.status !== 200) {
        const { status, text } = answer;
        logger.warn({ status, answer: text.slice(0, 500) }, 'the server did not accept the report');
        return { ok: false, isInvalid: status === 400 };
      }
      logger.debug({ podname: report.podname }, 'reported');
      return { ok: true, ...this.#assignmentOf(answer) };
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error, server: server.text }, 'report not sent');
      return { ok: false };
    }
  }

  close(): void {
    this.#agent?.destroy();
  }

  #assignmentOf({ isJson, text }: Answer): { assignment?: Assignment } {
    if (!isJson) return {};
    try {
      return { assignment: readAssignment(text) };
    } catch (error) {
      this.#o.logger.warn({ err: error }, 'the server sent no valid assignment: the last one is kept');
      return {};
    }
  }

  /**
   * Posts with the token in its file. If the server cannot have it verified, because the API server is away, posts again
   * with the token before, which the server knows: the kubelet may just have written a new one.
   */
  async #postWithToken(body: string, limits: PostLimits): Promise<Answer> {
    const token = await this.#token();
    const answer = await this.#post(body, token, limits);
    if (answer.status === 200) this.#accepted = token;
    const before = this.#accepted;
    if (answer.status !== UNVERIFIABLE || before === undefined || before === token) return answer;
    return this.#post(body, before, limits);
  }

  async #post(body: string, token: string | undefined, { signal, lookupMs }: PostLimits): Promise<Answer> {
    const { server, podName, serverCaFile, names } = this.#o;
    const path = `/api/v1/agents/${encodeURIComponent(podName)}`;
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const agent = await this.#connection();
    const lookup = names.lastKnown(lookupMs);
    const options = { host: server.host, port: server.port, path, method: 'POST', headers, agent, signal, lookup };
    return new Promise((resolve, reject) => {
      const sent = (serverCaFile === undefined ? requestHttp : requestHttps)(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.length > ASSIGNMENT_LIMIT_BYTES) sent.destroy(new Error('the answer is too large'));
        });
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        response.on('end', () => resolve({ status: response.statusCode ?? 0, isJson, text: text.trim() }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Reads the token for each report: the kubelet writes a new token before the old one expires. */
  async #token(): Promise<string | undefined> {
    const { tokenFile, logger } = this.#o;
    if (tokenFile === undefined) return undefined;
    try {
      const token = (await readTextFile(tokenFile)).trim();
      if (/^[\x21-\x7e]+$/.test(token)) return token;
      logger.warn({ file: tokenFile }, 'the report is sent without a token: the file has none');
    } catch (error) {
      logger.warn({ err: error }, 'the report is sent without a token: cannot read --token-file');
    }
    return undefined;
  }

  /** Returns the open connection, or a new one, which verifies the server with the present CA of the file. @throws if the file cannot be read */
  async #connection(): Promise<HttpAgent> {
    const { serverCaFile } = this.#o;
    const isOpen = Object.keys(this.#agent?.freeSockets ?? {}).length > 0;
    if (this.#agent !== undefined && (isOpen || serverCaFile === undefined)) return this.#agent;
    this.#agent?.destroy();
    const kept = { keepAlive: true, maxSockets: 1, timeout: KEPT_MS };
    this.#agent =
      serverCaFile === undefined
        ? new HttpAgent(kept)
        : new HttpsAgent({ ...kept, ca: await readTextFile(serverCaFile), maxCachedSessions: 0 });
    return this.#agent;
  }
}
