import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { lookup } from 'node:dns';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { ProbeError } from '../../protocol/measurement.ts';
import { hasRead } from '../deadline.ts';
import { probeError } from '../probeError.ts';
import { probeDatagram, replySequence, setSequence } from './datagram.ts';
import type { Run } from './roundTrips.ts';

/** Datagrams of one size, one after the other. */
export interface RunOptions {
  /** UDP payload. */
  readonly bytes: number;
  readonly count: number;
  /** Between two datagrams, ms. */
  readonly gapMs: number;
  /** After the last datagram, at least, ms. */
  readonly waitMs: number;
  /** The run waits longer until this is settled, unless `enough` datagrams are echoed before. */
  readonly patience?: Promise<unknown>;
  /** The run ends once so many were echoed. */
  readonly enough: number;
}

interface PeerSocketAddress {
  readonly address: string;
  readonly port: number;
}

/**
 * A UDP socket for the echo of one peer. It is not connected: a peer with several addresses on an interface, usual with
 * IPv6, may answer from an address that was not asked, and a connected socket drops such an answer. The token in the
 * datagram identifies the peer.
 */
export class EchoSocket {
  /** From which the system sends to the peer. */
  readonly localAddress: string;
  readonly #socket: Socket;
  readonly #to: PeerSocketAddress;
  readonly #node: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #token = randomBytes(8);
  #sequence = 0;
  /** Called with the echo of a datagram, by its sequence number. */
  readonly #waiting = new Map<number, () => void>();
  #error: ProbeError | undefined;

  private constructor(
    socket: Socket,
    localAddress: string,
    to: PeerSocketAddress,
    node: string,
    clock: Clock,
    signal: AbortSignal,
  ) {
    this.#socket = socket;
    this.localAddress = localAddress;
    this.#to = to;
    this.#node = node;
    this.#clock = clock;
    this.#signal = signal;
    socket.on('message', (datagram) => {
      const sequence = replySequence(datagram, this.#token);
      const replied = sequence === undefined ? undefined : this.#waiting.get(sequence);
      // A datagram that comes twice counts once.
      if (replied !== undefined && sequence !== undefined) this.#waiting.delete(sequence);
      replied?.();
    });
    socket.on('error', (error) => (this.#error = probeError(error)));
  }

  /**
   * Opens a socket for the echo of a peer.
   *
   * @param node of this agent, which the datagrams name
   * @throws error of the system, such as ENETUNREACH
   */
  static async open(to: PeerSocketAddress, node: string, clock: Clock, signal: AbortSignal): Promise<EchoSocket> {
    const socket = createSocket({ type: to.address.includes(':') ? 'udp6' : 'udp4', lookup: numbersOnly });
    try {
      await connected(socket, to);
      const { address } = socket.address();
      socket.disconnect();
      return new EchoSocket(socket, address, to, node, clock, signal);
    } catch (error) {
      socket.close();
      throw error;
    }
  }

  close(): void {
    this.#socket.close();
  }

  /**
   * Sends a run of datagrams and waits for their echoes. One run at a time. Never rejects. Echoes that come later are added
   * to the result until the socket is closed: a late answer is not a lost one.
   */
  async run({ bytes, count, gapMs, waitMs, patience, enough }: RunOptions): Promise<Run> {
    const isOver = new AbortController();
    const end = (): void => isOver.abort();
    this.#signal.addEventListener('abort', end, { once: true });
    const ended = new Promise((resolve) => isOver.signal.addEventListener('abort', resolve, { once: true }));
    const times: number[] = [];
    this.#error = undefined;
    let sent = 0;
    for (; sent < count && !isOver.signal.aborted; sent += 1) {
      const sentAt = this.#clock.monotonic();
      this.#waiting.set(this.#send(bytes), () => {
        times.push(this.#clock.monotonic() - sentAt);
        if (times.length >= enough) end();
      });
      if (sent < count - 1) await this.#clock.sleep(gapMs, isOver.signal);
    }
    await this.#clock.sleep(waitMs, isOver.signal);
    if (patience !== undefined && !isOver.signal.aborted) await Promise.race([patience, ended]);
    if (!isOver.signal.aborted) await hasRead();
    this.#signal.removeEventListener('abort', end);
    return { sent, times, error: this.#error };
  }

  #send(bytes: number): number {
    const sequence = this.#sequence++;
    const datagram = probeDatagram(this.#node, this.#token, bytes);
    setSequence(datagram, sequence);
    this.#socket.send(datagram, this.#to.port, this.#to.address, (error) => {
      if (error !== null) this.#error = probeError(error);
    });
    return sequence;
  }
}

/** Connects a socket. @throws error of the system, which only the callback of connect() gets: 'error' is not emitted */
function connected(socket: Socket, { port, address }: PeerSocketAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.connect(port, address, (error?: Error) => (error === undefined ? resolve() : reject(error)));
  });
}

type Done = (error: null, address: string, family: number) => void;

/** Replaces the name lookup of sockets whose addresses are always numbers. */
export const numbersOnly = ((host: string, _family: unknown, done: Done) =>
  done(null, host, host.includes(':') ? 6 : 4)) as typeof lookup;
