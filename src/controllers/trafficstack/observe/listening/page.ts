import { request } from 'undici';

/** A page of one collector of node-exporter has some KiB for each device. */
const LARGEST_BYTES = 1024 * 1024;

/**
 * The text of a page, or its first MiB. Redirects are not followed, and the connection is not kept.
 *
 * @throws Error without an answer, or if its status is not 200
 */
export async function getPage(url: string, signal: AbortSignal): Promise<string> {
  const { statusCode, body } = await request(url, { signal, reset: true });
  if (statusCode !== 200) {
    body.on('error', () => undefined).destroy();
    throw new Error(`status ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size >= LARGEST_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}
