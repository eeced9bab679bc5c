import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A TCP proxy that can stop passing anything on, as a stopped server or a dropped route does: nothing is closed. */
export interface FreezableProxy {
  port: number;
  /** Connections since the start. */
  connections: number;
  /** From now on, no byte passes, on connections that are open and on new ones. */
  freeze(): void;
  /** Connections made from now on work; `old` too when asked, as after SIGCONT. */
  thaw(options?: { old?: boolean }): void;
  /** Closes every connection, but goes on listening. */
  cut(): void;
  close(): Promise<void>;
}

export async function startFreezableProxy(targetPort: number): Promise<FreezableProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = false;
  const server = createServer((client) => {
    proxy.connections += 1;
    const upstream = connect(targetPort, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        pairs.delete(pair);
        for (const end of pair) end.destroy();
      });
    }
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => client.write(bytes));
    if (frozen) for (const socket of pair) socket.pause();
  });
  const proxy: FreezableProxy = {
    port: 0,
    connections: 0,
    freeze() {
      frozen = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    thaw({ old = false } = {}) {
      frozen = false;
      if (old) for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    cut() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        proxy.cut();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}
