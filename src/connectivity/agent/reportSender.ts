import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { networkInterfaces, uptime } from 'node:os';
import * as z from 'zod';
import type { ProbeResult, Report } from '../../api/agent/report.ts';
import { problemTexts } from '../../api/problems.ts';
import type { HostAndPort } from '../../options/connectivityValues.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { NameLookup } from '../../runtime/process/nameLookup.ts';
import { readTextFile } from '../../runtime/process/textFile.ts';
import { MOST_ASSIGNED_URLS } from '../protocol/limits.ts';
import type { Assignment, Measurement } from '../protocol/measurement.ts';
import { isNodeName } from './udp/datagram.ts';

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

/** The assignment before the first answer of a server, and with an original server for ever. */
export const NO_ASSIGNMENT: Assignment = {
  peers: [],
  probes: { dns: false, apiServer: false, mtu: false },
  urls: [],
};

/** Limit of the body of an answer, bytes. MOST_PEERS take 20 kB. */
const ASSIGNMENT_LIMIT_BYTES = 64 * 1024;
const MOST_PEERS = 64;
const MOST_ADDRESSES = 4;
const INTERVAL = 'must be a whole number from 2 to 86400';
const PORT = 'must be a whole number from 1 to 65535';
const SWITCH = z.boolean('must be true or false');

const peerSchema = z.object({
  node: z.string('must be a text').refine(isNodeName, 'must be the name of a node'),
  // Without a zone, as of link-local addresses: it is not part of URLs.
  addresses: z
    .array(z.string().refine((text) => isIP(text) > 0 && !text.includes('%'), 'must be an IP address'))
    .max(MOST_ADDRESSES, `must have at most ${MOST_ADDRESSES} entries`),
  port: z.int(PORT).min(1, PORT).max(65_535, PORT),
});

const assignmentSchema = z.object({
  intervalSeconds: z.int(INTERVAL).min(2, INTERVAL).max(86_400, INTERVAL).optional(),
  peers: z.array(peerSchema).max(MOST_PEERS, `must have at most ${MOST_PEERS} entries`),
  probes: z.object({ dns: SWITCH, apiServer: SWITCH, mtu: SWITCH }),
  urls: z.array(z.string().max(2_048)).max(MOST_ASSIGNED_URLS, `must have at most ${MOST_ASSIGNED_URLS} entries`),
});

/**
 * Reads the answer to a report. Unknown fields are ignored.
 *
 * @throws Error that names field, value and what is allowed
 */
export function readAssignment(text: string): Assignment {
  const json: unknown = JSON.parse(text);
  const { data, error } = assignmentSchema.safeParse(json);
  if (error !== undefined) throw new Error(problemTexts(json, error.issues).join('; '));
  const { intervalSeconds, ...rest } = data;
  return { ...rest, ...(intervalSeconds !== undefined && { intervalSeconds }) };
}

/** The data about itself that an agent puts into each report. */
export interface AgentIdentity {
  readonly podName: string;
  /** '' if the pod does not know its node. */
  readonly nodeName: string;
  readonly intervalSeconds: number;
  /** Number of zeros in the field `zero_extender`. */
  readonly zeros: number;
  /** Host of the server, for the name lookup. */
  readonly serverHost: string;
}

/** A report as the original agent sends it. */
type OriginalReport = Report & { zero_extender: readonly number[] };

/** A report as it is sent. The original server ignores fields that it does not know. */
export type SentReport = OriginalReport & { readonly connectivity: Measurement };

/** Collects a report of this node. @param addresses of the server; null if the lookup failed */
export function collectReport(
  identity: AgentIdentity,
  addresses: string[] | null,
  probes: readonly ProbeResult[],
  clock: Clock,
): OriginalReport {
  return {
    report_interval: identity.intervalSeconds,
    nodename: identity.nodeName,
    podname: identity.podName,
    hostdate: new Date(clock.now()).toISOString(),
    uptime: Math.floor(uptime()),
    nslookup: { [identity.serverHost]: addresses },
    ips: interfaceAddresses(),
    network_probes: [...probes],
    zero_extender: new Array<number>(identity.zeros).fill(0),
  };
}

/** Looks up the addresses of a host. Never rejects: null if there is no answer within `waitMs`. */
export async function addressesOf(host: string, names: NameLookup, waitMs: number): Promise<string[] | null> {
  try {
    return (await names.addresses(host, waitMs)).map(({ address }) => address);
  } catch {
    return null;
  }
}

function interfaceAddresses(): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, addresses = []]) => [
      name,
      addresses.map(({ address, cidr }) => cidr ?? address),
    ]),
  );
}
