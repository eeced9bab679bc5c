import type { Server, Socket } from 'node:net';
import type { Failures } from './failures.ts';

/** Bears the errors of a server and of its sockets, which are thrown where nobody listens for them. */
export function bearErrors(server: Server, failures: Failures): void {
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => socket.on('error', () => undefined));
  }
  // Before it listens, whoever made it listen is told.
  server.on('error', () => {
    if (server.listening) failures.count('connection');
  });
}
