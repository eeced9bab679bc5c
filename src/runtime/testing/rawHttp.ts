import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A connection on which a test sends what no HTTP client would. */
export interface RawConnection {
  readonly socket: Socket;
  readonly send: (bytes: string | Uint8Array) => void;
  /** Ends it without a word to TLS: RST. */
  readonly reset: () => void;
  /** Resolves when the connection is gone, by whatever end: to all that the server sent. */
  readonly closed: Promise<string>;
}

/**
 * Opens a connection to a port of 127.0.0.1; by TLS, whoever answers, with `protocol`.
 *
 * @param from address of the client, of 127.0.0.0/8
 */
export function openRaw(port: number, protocol?: 'http/1.1' | 'h2', from = '127.0.0.1'): RawConnection {
  const tcp = connect({ host: '127.0.0.1', port, localAddress: from });
  // The certificate is none of these tests' business.
  const tls = { socket: tcp, rejectUnauthorized: false, ALPNProtocols: protocol === undefined ? [] : [protocol] };
  const socket = protocol === undefined ? tcp : connectTls(tls);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  // A reset is one of the ends that are waited for.
  for (const each of [tcp, socket]) each.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  const send = (bytes: string | Uint8Array): void => void socket.write(bytes);
  return { socket, send, reset: () => void tcp.resetAndDestroy(), closed };
}

/** Sends bytes on a connection of its own, and resolves to what is answered until the server closes it. */
export function exchange(port: number, bytes: string, protocol?: 'http/1.1'): Promise<string> {
  const connection = openRaw(port, protocol);
  connection.send(bytes);
  return connection.closed;
}
