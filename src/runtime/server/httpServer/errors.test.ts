import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bearErrors } from './errors.ts';
import { Failures } from './failures.ts';

describe('bearErrors', () => {
  const failed = vi.fn<(server: string, reason: string) => void>();
  let server: Server;

  beforeEach(() => {
    failed.mockClear();
    server = createServer();
    bearErrors(server, new Failures('server', { failed }, pino({ level: 'silent' })));
  });
  afterEach(() => server.close());

  const listen = async (): Promise<number> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  it('counts an error of a server that listens', async () => {
    await listen();
    server.emit('error', new Error('EMFILE'));
    expect(failed.mock.calls).toEqual([['server', 'connection']]);
  });

  it('leaves one before that to whoever made it listen', () => {
    server.emit('error', new Error('EADDRINUSE'));
    expect(failed).not.toHaveBeenCalled();
  });

  it('bears an error of a socket, however late', async () => {
    const port = await listen();
    const client = connect(port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.emit('error', new Error('EPIPE'));
    // Not by `once` of node:events, which listens for errors, too.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy(new Error('ECONNRESET'));
    await closed;
    client.destroy();
  });
});
