import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { HostAndPort } from '../../options/connectivityValues.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { NameLookup } from '../../runtime/process/nameLookup.ts';
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
  readonly assignment?: Assignment;
}

interface Answer {
  readonly status: number;
  readonly isJson: boolean;
  readonly text: string;
}

/** How long a new connection waits for the DNS before it uses the addresses that were last known, ms. */
const MOST_LOOKUP_MS = 1_000;

/**
 * Sends reports on one connection, which it keeps. A silent DNS of the cluster is to be reported, so a new connection
 * then uses the addresses that were last known.
 */
export class ReportSender {
  readonly #o: SenderOptions;
  #agent: HttpAgent | undefined;

  constructor(o: SenderOptions) {
    this.#o = o;
  }

  /**
   * Logs a failure. Never rejects.
   *
   * | answer | result |
   * |---|---|
   * | none, or not 200 | not ok |
   * | 200 without JSON, as of an original server | ok |
   * | 200 with a valid assignment | ok, with the assignment |
   * | 200 with JSON that is no assignment | ok |
   */
  async send(report: SentReport, timeoutMs: number, signal: AbortSignal): Promise<Sent> {
    const { logger, server } = this.#o;
    try {
      const answer = await this.#post(JSON.stringify(report), timeoutMs, signal);
      if (answer.status !== 200) {
        const { status, text } = answer;
        logger.warn({ status, answer: text.slice(0, 500) }, 'the server did not accept the report');
        return { ok: false };
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

  async #post(body: string, timeoutMs: number, stop: AbortSignal): Promise<Answer> {
    const { server, podName, serverCaFile, names } = this.#o;
    const path = `/api/v1/agents/${encodeURIComponent(podName)}`;
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json',
      ...(await this.#credentials()),
    };
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const agent = await this.#connection();
    const lookup = names.lastKnown(Math.min(MOST_LOOKUP_MS, timeoutMs / 4));
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

  /** The kubelet writes a new token before the old one expires. */
  async #credentials(): Promise<{ authorization?: string }> {
    const { tokenFile, logger } = this.#o;
    if (tokenFile === undefined) return {};
    try {
      const token = (await readFile(tokenFile, 'utf8')).trim();
      if (/^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` };
      logger.warn({ file: tokenFile }, 'the report is sent without a token: the file has none');
    } catch (error) {
      logger.warn({ err: error }, 'the report is sent without a token: cannot read --token-file');
    }
    return {};
  }

  /** A new connection verifies the server with the CA as it is then in its file. @throws if the file cannot be read */
  async #connection(): Promise<HttpAgent> {
    const { serverCaFile } = this.#o;
    const isOpen = Object.keys(this.#agent?.freeSockets ?? {}).length > 0;
    if (this.#agent !== undefined && (isOpen || serverCaFile === undefined)) return this.#agent;
    this.#agent?.destroy();
    const kept = { keepAlive: true, maxSockets: 1 };
    this.#agent =
      serverCaFile === undefined
        ? new HttpAgent(kept)
        : new HttpsAgent({ ...kept, ca: await readFile(serverCaFile, 'utf8'), maxCachedSessions: 0 });
    return this.#agent;
  }
}
