import type { AddressInfo, Server, Socket } from 'node:net';
import { whenAborted } from '../process/abort.ts';
import type { BindAddress } from './bindAddress.ts';
import type { Part } from '../process/part.ts';

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
