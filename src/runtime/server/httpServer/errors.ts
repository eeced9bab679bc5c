import type { Server, Socket } from 'node:net';
import type { Failures } from './failures.ts';

/** Handles the error events of a server and its sockets, which Node.js throws without a listener. */
export function bearErrors(server: Server, failures: Failures): void {
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => socket.on('error', () => undefined));
  }
  // Until the server listens, `listen` reports the error to its caller.
  server.on('error', () => {
    if (server.listening) failures.count('connection');
  });
}
