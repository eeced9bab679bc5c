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

  it('counts an error of a listening server', async () => {
    await listen();
    server.emit('error', new Error('EMFILE'));
    expect(failed.mock.calls).toEqual([['server', 'connection']]);
  });

  it('leaves an error before that to the caller of listen()', () => {
    server.emit('error', new Error('EADDRINUSE'));
    expect(failed).not.toHaveBeenCalled();
  });

  it('handles an error of a socket at any time', async () => {
    const port = await listen();
    const client = connect(port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.emit('error', new Error('EPIPE'));
    // Do not use `once` of node:events: it also adds an error listener.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy(new Error('ECONNRESET'));
    await closed;
    client.destroy();
  });
});
