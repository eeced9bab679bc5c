import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import type { ProbeError, TargetResult } from '../../protocol/measurement.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { dnsQuestion, isAnswered, type ClusterDns } from './dnsMessage.ts';
import { numbersOnly } from '../udp/numbersOnly.ts';
import { probeError } from '../probeError.ts';
import { rounded } from '../udp/roundTrips.ts';

const PORT = 53;
/** A single lost packet does not mean that the DNS is silent: resolvers also repeat a question. */
const TRIES = 3;

export interface DnsProbeOptions {
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
  socket.close();
  return result('DNSUDP', addressOf(server, o), seen);
}

/** Asks by TCP on a new connection. Never rejects. */
export async function probeDnsTcp({ server, name }: ClusterDns, o: DnsProbeOptions): Promise<TargetResult> {
  const start = o.clock.monotonic();
  const signal = AbortSignal.any([AbortSignal.timeout(o.timeoutMs), o.signal]);
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
