import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The address that the API server calls, before the webhook: a Service, whose endpoints a test changes. */
export interface Front {
  readonly port: number;
  /** Connections go to this port from now on; 'nowhere': they are accepted, and get no answer. Existing ones are closed. */
  to(target: number | 'nowhere'): void;
  /** Refuses connections, until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
}

/** Starts it on loopback. */
export async function startFront(): Promise<Front> {
  const open = new Set<Socket>();
  let target: number | 'nowhere' = 'nowhere';
  const server = createServer({ noDelay: true }, (socket) => {
    const hold = (each: Socket): void => {
      open.add(each);
      each.on('error', () => undefined).on('close', () => open.delete(each));
    };
    hold(socket);
    if (target === 'nowhere') return;
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true });
    hold(upstream);
    socket.pipe(upstream).pipe(socket);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const drop = (): void => {
    for (const each of open) each.destroy();
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    to: (next) => {
      target = next;
      drop();
    },
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      drop();
      return closed;
    },
    open: () => listen(port),
  };
}
