import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** A request body above the limit of its handler. The client gets a 413. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(limitBytes: number) {
    super(`the body has more than ${limitBytes} bytes`);
  }
}

/** The client did not send the whole body. No response reaches it. */
export class BodyIncomplete extends Error {
  override readonly name = 'BodyIncomplete';
}

/**
 * Reads the body of a request as UTF-8. Keeps at most `limitBytes` of it in memory, whatever the client announces or
 * sends. How long a client may take is a limit of the server.
 *
 * @throws BodyTooLarge, BodyIncomplete
 */
export async function readBody(
  request: Readable & { headers: IncomingHttpHeaders },
  limitBytes: number,
): Promise<string> {
  if (Number(request.headers['content-length']) > limitBytes) throw new BodyTooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(request)) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw new BodyTooLarge(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The chunks of a body. Leaves the request open if its reader stops early: its response is still to be sent. */
async function* chunksOf(request: Readable): AsyncIterable<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new BodyIncomplete('the client did not send the whole body', { cause: error });
  }
}
