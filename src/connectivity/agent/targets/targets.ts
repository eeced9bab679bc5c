import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIP, type Socket } from 'node:net';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { readTextFile } from '../../../runtime/process/textFile.ts';
import type { Assignment, ProbeError, TargetResult } from '../../protocol/measurement.ts';
import { deadline, hasRead } from '../deadline.ts';
import { requestOnce, type Trust } from '../http/httpRequest.ts';
import { probeError } from '../probeError.ts';
import { numbersOnly } from '../udp/echoSocket.ts';
import { rounded } from '../udp/roundTrips.ts';
import { clusterDns, dnsQuestion, isAnswered, type ClusterDns } from './dnsMessage.ts';

const RESOLV_CONF = '/etc/resolv.conf';
/** The default of the kubelet's --healthz-port. It listens on loopback only. */
const KUBELET = '127.0.0.1:10248';
const MOST_MS = 3_000;

export interface TargetsOptions {
  readonly plane: Plane;
  /** Host and port of the Service of the API server; undefined outside of a cluster. */
  readonly apiServer: string | undefined;
  readonly apiCaFile: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The Service of the API server, as the kubelet tells every pod. */
export function apiServerOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  if (host === '' || port === '') return undefined;
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Probes the services of the cluster. */
export class Targets {
  readonly #o: TargetsOptions;
  /** A kubelet may have another port, or none: its first success shows that the address is right. */
  #isKubeletKnown = false;

  constructor(o: TargetsOptions) {
    this.#o = o;
  }

  /** Probes the services. One that cannot be asked, such as the API server outside of a cluster, has no result. Never rejects. */
  async probe(probes: Assignment['probes'], mostMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const timeoutMs = Math.min(mostMs, MOST_MS);
    const results = await Promise.all([
      probes.apiServer ? this.#apiServer(timeoutMs, signal) : [],
      probes.dns ? this.#dns(timeoutMs, signal) : [],
      this.#o.plane === 'Host' ? this.#kubelet(timeoutMs, signal) : [],
    ]);
    return results.flat();
  }

  async #dns(timeoutMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const file = await readTextFile(RESOLV_CONF).catch(() => '');
    const dns = clusterDns(file);
    if (dns === undefined || isIP(dns.server) === 0) return [];
    const o = { timeoutMs, clock: this.#o.clock, signal };
    return Promise.all([probeDnsUdp(dns, o), probeDnsTcp(dns, o)]);
  }

  async #apiServer(timeoutMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const { apiServer: address } = this.#o;
    const trust = await this.#trust();
    if (address === undefined || trust === undefined) return [];
    const seen = await this.#get(`https://${address}/livez`, timeoutMs, signal, trust);
    return [{ target: 'APIServer', address, ...seen }];
  }

  /**
   * Reads the CA of the API server. Without a CA the server is not verified: the probe sends no credentials, and uses only the
   * fact that there is an answer. Undefined if the file of the CA cannot be read.
   */
  async #trust(): Promise<Trust | undefined> {
    const { apiCaFile, logger } = this.#o;
    if (apiCaFile === undefined) return { ca: [], rejectUnauthorized: false };
    try {
      return { ca: await readTextFile(apiCaFile) };
    } catch (error) {
      logger.warn({ err: error }, 'the API server is not probed: cannot read --api-ca-file');
      return undefined;
    }
  }

  async #kubelet(timeoutMs: number, signal: AbortSignal): Promise<TargetResult[]> {
    const seen = await this.#get(`http://${KUBELET}/healthz`, timeoutMs, signal);
    this.#isKubeletKnown ||= seen.ok;
    return this.#isKubeletKnown ? [{ target: 'Kubelet', address: KUBELET, ...seen }] : [];
  }

  /** Requests a URL. Any status shows that the network works, but a kubelet must answer 200: else it says that it is unhealthy. */
  async #get(url: string, timeoutMs: number, stop: AbortSignal, trust?: Trust) {
    const signal = deadline(this.#o.clock, timeoutMs, stop);
    const { start, end = start, status = 0, error } = await requestOnce(new URL(url), this.#o.clock, signal, { trust });
    if (error !== undefined) return { ok: false, error: probeError(error) };
    const isOk = trust === undefined ? status === 200 : status > 0;
    return isOk ? { ok: true, ms: rounded(end - start) } : { ok: false, error: 'Other' as const };
  }
}

const PORT = 53;
/** A single lost packet does not mean that the DNS is silent: resolvers also repeat a question. */
const TRIES = 3;

interface DnsProbeOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The port of the DNS; default: 53. */
  readonly port?: number;
}

/** Asks by UDP, up to three times. Never rejects. */
export async function probeDnsUdp({ server, name }: ClusterDns, o: DnsProbeOptions): Promise<TargetResult> {
  const id = randomInt(0x10000);
  const socket = createSocket({ type: server.includes(':') ? 'udp6' : 'udp4', lookup: numbersOnly });
  const isOver = new AbortController();
  const signal = AbortSignal.any([isOver.signal, o.signal]);
  let seen: Seen = { error: 'Timeout' };
  let sentAt = o.clock.monotonic();
  const end = (result: Seen): void => {
    if (!isOver.signal.aborted) seen = result;
    isOver.abort();
  };
  const fail = (error: unknown): void => end({ error: probeError(error) });
  socket.on('error', fail);
  socket.on('message', (message) => {
    const answered = isAnswered(message, id);
    if (answered !== undefined) end(answered ? { ms: o.clock.monotonic() - sentAt } : { error: 'Other' });
  });
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    // The callback also gets the error of a failed connect, such as ENETUNREACH; 'error' is not emitted then.
    socket.connect(o.port ?? PORT, server, (error?: Error) => {
      if (error !== undefined) fail(error);
      resolve();
    });
  });
  for (let n = 0; n < TRIES && !signal.aborted; n += 1) {
    sentAt = o.clock.monotonic();
    socket.send(dnsQuestion(id, name), (error) => {
      if (error !== null) fail(error);
    });
    await o.clock.sleep(o.timeoutMs / TRIES, signal);
  }
  if (!signal.aborted) await hasRead();
  socket.close();
  return result('DNSUDP', addressOf(server, o), seen);
}

/** Asks by TCP on a new connection. Never rejects. */
export async function probeDnsTcp({ server, name }: ClusterDns, o: DnsProbeOptions): Promise<TargetResult> {
  const start = o.clock.monotonic();
  const signal = deadline(o.clock, o.timeoutMs, o.signal);
  const socket = connect({ host: server, port: o.port ?? PORT, signal });
  const error = await exchange(socket, randomInt(0x10000), name);
  socket.destroy();
  return result('DNSTCP', addressOf(server, o), error === undefined ? { ms: o.clock.monotonic() - start } : { error });
}

const LENGTH_BYTES = 2;
const HEADER_BYTES = 12;

/** Sends a question, with its length before it, and waits for the header of the answer. */
function exchange(socket: Socket, id: number, name: string): Promise<ProbeError | undefined> {
  const question = dnsQuestion(id, name);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(question.length, 0);
  let seen = Buffer.alloc(0);
  return new Promise((resolve) => {
    socket.on('error', (error) => resolve(probeError(error)));
    socket.on('close', () => resolve('Reset'));
    socket.on('data', (data) => {
      seen = Buffer.concat([seen, data]);
      if (seen.length < LENGTH_BYTES + HEADER_BYTES) return;
      resolve(isAnswered(seen.subarray(LENGTH_BYTES), id) === true ? undefined : 'Other');
    });
    // Not end(): a server may take a half-closed connection for closed.
    socket.write(Buffer.concat([length, question]));
  });
}

type Seen = { readonly ms: number } | { readonly error: ProbeError };

function addressOf(server: string, { port = PORT }: DnsProbeOptions): string {
  return `${server.includes(':') ? `[${server}]` : server}:${port}`;
}

function result(target: 'DNSUDP' | 'DNSTCP', address: string, seen: Seen): TargetResult {
  return { target, address, ...('ms' in seen ? { ok: true, ms: rounded(seen.ms) } : { ok: false, error: seen.error }) };
}
