import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import { createHttpServer, type HttpAnswer, type HttpHandler } from '../../runtime/server/httpServer.ts';
import { HTTP_LIMITS } from '../../runtime/server/httpServer/limits.ts';
import { probeSender, turnIntoReply } from './udp/datagram.ts';
import { EchoLimit } from './udp/echoLimit.ts';
import type { Heard } from './udp/heard.ts';
import { numbersOnly } from './udp/echoSocket.ts';

export interface ListenerOptions {
  readonly port: number;
  /** Node of this agent: its own datagrams are not counted. */
  readonly nodeName: string;
  readonly heard: Heard;
  /** The page for Prometheus. */
  readonly metrics: () => HttpAnswer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Requests of peers and of Prometheus have no body and take a connection each. A check each 5 s costs less than one each second. */
const LIMITS = { ...HTTP_LIMITS, keepAliveMs: 5_000, checkMs: 5_000 };

/**
 * Listens for peers and Prometheus on all addresses, HTTP and UDP on the same port, until `signal` is aborted. Resolves when it
 * listens. A machine without IPv6 has no UDP socket for it.
 *
 * @throws Error that names the port, if another program has it
 */
export async function listen(o: ListenerOptions, signal: AbortSignal): Promise<void> {
  const sockets = [await echo('udp4', o), await echo('udp6', o)];
  const server = createHttpServer({
    name: 'peer server',
    address: { port: o.port },
    handler: answerTo(o.metrics),
    metrics: { failed: () => undefined },
    logger: o.logger,
    limits: LIMITS,
  });
  await server.listen();
  void server.run(signal);
  signal.addEventListener('abort', () => sockets.forEach((socket) => socket?.close()), { once: true });
}

function answerTo(metrics: () => HttpAnswer): HttpHandler {
  return ({ path, method }) => {
    if (path !== '/ping' && path !== '/metrics') return { status: 404, text: 'not found\n' };
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, text: 'GET only\n' };
    return path === '/metrics' ? metrics() : { status: 200, text: 'ok\n' };
  };
}

/** Opens a socket that echoes probes. Undefined if the machine does not have this kind of addresses. */
async function echo(type: 'udp4' | 'udp6', o: ListenerOptions): Promise<Socket | undefined> {
  // Sender addresses are numbers: there is nothing to look up.
  const socket = createSocket({ type, ipv6Only: type === 'udp6', lookup: numbersOnly });
  const limit = new EchoLimit(o.clock);
  socket.on('message', (datagram, sender) => {
    const node = probeSender(datagram);
    if (node === undefined) return;
    const isPeer = o.heard.isPeer(sender.address);
    if (!limit.allows(sender.address, datagram.length, isPeer)) return;
    if (node !== '' && node !== o.nodeName) o.heard.add(node);
    answer(socket, datagram, sender);
  });
  try {
    await bind(socket, o.port);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (type === 'udp4' || code === 'EADDRINUSE') throw new Error(`cannot listen on UDP port ${o.port} (${code})`);
    o.logger.info({ code }, 'no IPv6: peers are answered by IPv4 only');
    return undefined;
  }
  // Such as the message that the sender of an earlier probe has closed its socket.
  socket.on('error', (error) => o.logger.debug({ err: error }, 'error of the echo socket'));
  return socket;
}

function answer(socket: Socket, datagram: Buffer, { port, address }: RemoteInfo): void {
  // Node.js throws for port 0, which a forged datagram may have.
  if (port === 0) return;
  turnIntoReply(datagram);
  // An answer that cannot be sent is a lost packet for the sender.
  socket.send(datagram, port, address, () => undefined);
}

function bind(socket: Socket, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ port, exclusive: true }, () => {
      socket.off('error', reject);
      resolve();
    });
  });
}
