import net from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import type { Clock } from '../../process/clock.ts';
import type { ConnectionLane, TransportMetrics } from './types.ts';

/** The server speaks TLS but not HTTP/2; nothing was sent. */
export class Http1OnlyError extends Error {
  constructor() {
    super('the server does not offer HTTP/2');
    this.name = 'Http1OnlyError';
  }
}

interface ConnectionsOptions {
  name: ConnectionLane;
  origin: string;
  tls: () => tls.ConnectionOptions;
  clock: Clock;
  metrics?: TransportMetrics | undefined;
  drainMs: number;
  /** Interval of the check for silent HTTP/2 connections. */
  checkMs: number;
  onSilent: (error: Error) => void;
}

/** TCP and TLS handshake together. */
const DIAL_TIMEOUT_MS = 10_000;
/** Idle time before the first TCP keep-alive probe; client-go's value. */
const TCP_KEEP_ALIVE_MS = 30_000;
/**
 * A connection without a received byte in this many checks in a row is dead. It counts checks, not time, so that a
 * process that was itself stopped does not blame the server.
 */
const SILENT_LOOKS = 3;

/** Dials, counts and monitors the sockets of one lane. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<net.Socket>();
  #dialling: { socket: net.Socket; since: number } | undefined;
  #bytesOfClosed = 0;
  /** Serializes the dials of this lane. */
  #turn = Promise.resolve();
  #closed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get bytesReceived(): number {
    let bytes = this.#bytesOfClosed;
    for (const socket of this.#open) bytes += socket.bytesRead;
    return bytes;
  }

  /** Duration of the current connection attempt in milliseconds; 0 if there is none. */
  dialledFor(): number {
    return this.#dialling === undefined ? 0 : this.#options.clock.monotonic() - this.#dialling.since;
  }

  /** Closes all connections. Later dials fail. */
  close(error: Error): void {
    this.#closed = true;
    this.destroy(error);
  }

  destroy(error: Error): void {
    for (const socket of this.#open) socket.destroy(error);
  }

  /** A connector for undici. With `single` it requires HTTP/2 and closes the previous connection first. */
  connector(single: boolean): buildConnector.connector {
    return (target, callback) => {
      const dial = (): void => {
        try {
          if (this.#closed) throw new Error('closed');
          this.#dial(target, single, callback);
        } catch (error) {
          // Closed in the meantime, or TLS cannot read the certificates.
          callback(error instanceof Error ? error : new Error(String(error)), null);
        }
      };
      if (!single) dial();
      else this.#turn = this.#turn.then(() => this.#vacate()).then(dial);
    };
  }

  /** Waits for the end of the previous connection: cuts its watches, which resume, and lets its calls finish. */
  async #vacate(): Promise<void> {
    const { clock, name, drainMs } = this.#options;
    const old = [...this.#open];
    if (old.length === 0) return;
    const error = new Error('the connection was replaced');
    const late = clock.setTimeout(() => this.#cut(old, error), name === 'watch' ? 0 : drainMs);
    await Promise.all(old.map(whenClosed));
    late.cancel();
  }

  #cut(sockets: readonly net.Socket[], error: Error): void {
    for (const socket of sockets) socket.destroy(error);
  }

  #dial(target: buildConnector.Options, single: boolean, callback: buildConnector.Callback): void {
    const { clock } = this.#options;
    const secure = target.protocol === 'https:';
    const socket = secure ? this.#connectTls(target, single) : net.connect(addressOf(target));
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    this.#open.add(socket);
    this.#dialling = { socket, since: clock.monotonic() };
    const late = clock.setTimeout(
      () => socket.destroy(new Error(`no connection within ${DIAL_TIMEOUT_MS / 1000} s`)),
      DIAL_TIMEOUT_MS,
    );
    let settled = false;
    const settle: buildConnector.Callback = (...result) => {
      late.cancel();
      if (this.#dialling?.socket === socket) this.#dialling = undefined;
      if (!settled) callback(...result);
      settled = true;
    };
    socket.once(secure ? 'secureConnect' : 'connect', () => this.#connected(socket, single, settle));
    // Keeps an error listener: undici removes its own before the socket has emitted its last error.
    socket.on('error', (error: Error) => settle(error, null));
    socket.once('close', () => {
      this.#bytesOfClosed += socket.bytesRead;
      this.#open.delete(socket);
      settle(new Error('the connection was closed during the handshake'), null);
    });
  }

  #connectTls(target: buildConnector.Options, single: boolean): tls.TLSSocket {
    const options = this.#options.tls();
    // TLS does not allow an address as server name; Node then checks the certificate against the host.
    const name = options.servername ?? (net.isIP(target.hostname) === 0 ? target.hostname : undefined);
    return tls.connect({
      ...options,
      ...addressOf(target),
      ...(name === undefined ? {} : { servername: name }),
      ALPNProtocols: single ? ['h2', 'http/1.1'] : ['http/1.1'],
    });
  }

  #connected(socket: net.Socket, single: boolean, settle: buildConnector.Callback): void {
    const { metrics, name } = this.#options;
    if (single && (socket as tls.TLSSocket).alpnProtocol !== 'h2') {
      settle(new Http1OnlyError(), null);
      socket.destroy();
      return;
    }
    metrics?.connectionOpened(name);
    socket.once('close', () => metrics?.connectionClosed(name));
    if (single) this.#watchOver(socket);
    settle(null, socket);
  }

  #watchOver(socket: net.Socket): void {
    const { clock, checkMs, onSilent } = this.#options;
    let before = socket.bytesRead;
    let silentLooks = 0;
    const look = (): void => {
      silentLooks = socket.bytesRead === before ? silentLooks + 1 : 0;
      before = socket.bytesRead;
      if (silentLooks >= SILENT_LOOKS) onSilent(new Error('the connection was silent, PINGs unanswered'));
      else timer = clock.setTimeout(look, checkMs);
    };
    let timer = clock.setTimeout(look, checkMs);
    socket.once('close', () => timer.cancel());
  }
}

function addressOf(target: buildConnector.Options): { host: string; port: number } {
  const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port);
  return { host: target.hostname, port };
}

function whenClosed(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
