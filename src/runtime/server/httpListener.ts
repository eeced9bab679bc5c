import type { AddressInfo, Server, Socket } from 'node:net';
import { whenAborted } from '../async/deadline.ts';
import type { Part } from '../process/part.ts';

/** Listen address of a server; without a host, all addresses of the machine. */
export interface BindAddress {
  host?: string;
  /** 0: the system chooses. */
  port: number;
}

/** The formats that `parseBindAddress` accepts, for messages. */
export const BIND_ADDRESS_FORMS = '0 (off), :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080';

/**
 * Parses an address in the format of Go's net.Listen: 'host:port' or ':port', IPv6 in brackets.
 *
 * @returns 'off' for '0', undefined for an invalid address
 */
export function parseBindAddress(text: string): BindAddress | 'off' | undefined {
  if (text === '0') {
    return 'off';
  }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    return undefined;
  }
  const host = match[1] ?? match[2] ?? '';
  return host === '' ? { port } : { host, port };
}

/** Runs a server: listens, and closes it with all its connections. For HTTP, HTTPS and HTTP/2. */
export class HttpListener {
  readonly name: string;
  readonly #server: Server;
  readonly #address: BindAddress;
  readonly #sockets = new Set<Socket>();
  #listening: Promise<void> | undefined;

  /**
   * @param name for messages: 'metrics server'
   * @param connections maximum of open connections. A further connection replaces the oldest, so that a client with
   *   many open connections cannot block a probe.
   */
  constructor(
    name: string,
    server: Server,
    address: BindAddress,
    connections: { limit: number; dropped: () => void } = { limit: Infinity, dropped: () => undefined },
  ) {
    this.name = name;
    this.#server = server;
    this.#address = address;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      if (this.#sockets.size > connections.limit) {
        this.#dropOldest();
        connections.dropped();
      }
    });
  }

  /** The port that it listens on; only while it runs. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * Starts to listen; call it once. Resolves when the server accepts connections.
   *
   * @throws Error that names the address, if it cannot be bound
   */
  listen(): Promise<void> {
    return (this.#listening ??= this.#listen());
  }

  /** Listens and serves until `signal` is aborted, then closes all connections. */
  async run(signal: AbortSignal): Promise<void> {
    await this.listen();
    await whenAborted(signal);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await closed;
  }

  #dropOldest(): void {
    const [oldest] = this.#sockets;
    if (oldest === undefined) return;
    this.#sockets.delete(oldest);
    oldest.destroy();
  }

  #listen(): Promise<void> {
    const { host, port } = this.#address;
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void =>
        reject(new Error(`cannot listen on ${host ?? ''}:${port} (${error.code ?? error.message})`));
      this.#server.once('error', fail);
      this.#server.listen({ port, host }, () => {
        this.#server.off('error', fail);
        resolve();
      });
    });
  }
}

/** A part for a server. */
export function serverPart(listener: HttpListener): Part {
  return {
    name: listener.name,
    stage: 'server',
    run: (signal) => listener.run(signal),
    whenReady: () => listener.listen(),
  };
}
