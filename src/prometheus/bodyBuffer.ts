import { PrometheusError } from './prometheusError.ts';

const LEAST_ROOM = 256 * 1024;

/** Buffers the body of an answer while it arrives. */
export class BodyBuffer {
  /** The received bytes that were not dropped. Valid until the next call of `more` or `rest`. */
  bytes: Buffer = Buffer.alloc(0);
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #most: number;
  #total = 0;
  /** Holds `bytes` from the second chunk on. Reused for all chunks, because V8 frees large buffers late. */
  #room: Buffer | undefined = undefined;

  /** @param most largest body, in bytes */
  constructor(body: AsyncIterable<Buffer>, most: number) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#most = most;
  }

  /**
   * Waits for the next chunk and appends it to `bytes`. Returns false at the end of the body.
   * Throws PrometheusError TooLarge, or the error of the body.
   */
  async more(): Promise<boolean> {
    const chunk = await this.#next();
    if (chunk === undefined) return false;
    if (this.#total === chunk.length) this.bytes = chunk;
    else this.#append(chunk);
    return true;
  }

  /** Reads the rest of the body. Throws what `more` throws. */
  async rest(): Promise<void> {
    const chunks = [this.bytes];
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) chunks.push(chunk);
    this.bytes = Buffer.concat(chunks);
  }

  async #next(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next();
    if (next.done === true) return undefined;
    this.#total += next.value.length;
    if (this.#total > this.#most) {
      const message = `the answer has more than ${this.#most} bytes, the limit; a matcher may be missing`;
      throw new PrometheusError('TooLarge', message);
    }
    return next.value;
  }

  /** Removes the first `count` bytes. */
  drop(count: number): void {
    this.bytes = this.bytes.subarray(count);
  }

  #append(chunk: Buffer): void {
    const [before, length] = [this.bytes, this.bytes.length + chunk.length];
    if (this.#room === undefined || this.#room.length < length) {
      this.#room = Buffer.allocUnsafeSlow(Math.max(2 * length, LEAST_ROOM));
    }
    if (before.buffer !== this.#room.buffer || before.byteOffset > 0) before.copy(this.#room);
    chunk.copy(this.#room, before.length);
    this.bytes = this.#room.subarray(0, length);
  }
}
