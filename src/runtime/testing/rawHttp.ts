import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A connection on which a test sends what no HTTP client would. */
export interface RawConnection {
  readonly socket: Socket;
  /** All that the server has sent. */
  received(): string;
  send(bytes: string | Uint8Array): void;
  /** Resolves when the connection is gone, by whatever end: to all that the server sent. */
  readonly closed: Promise<string>;
}

/** Opens a connection to a port of 127.0.0.1; by TLS, whoever answers, with `protocol`. */
export function openRaw(port: number, protocol?: 'http/1.1' | 'h2'): RawConnection {
  const address = { host: '127.0.0.1', port };
  // The certificate is none of these tests' business.
  const tls = { ...address, rejectUnauthorized: false, ALPNProtocols: protocol === undefined ? [] : [protocol] };
  const socket = protocol === undefined ? connect(address) : connectTls(tls);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  // A reset is one of the ends that are waited for.
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  return { socket, received: () => text, send: (bytes) => void socket.write(bytes), closed };
}

/** Sends bytes on a connection of its own, and resolves to what is answered until the server closes it. */
export function exchange(port: number, bytes: string, protocol?: 'http/1.1'): Promise<string> {
  const connection = openRaw(port, protocol);
  connection.send(bytes);
  return connection.closed;
}
