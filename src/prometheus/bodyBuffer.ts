import { PrometheusError } from './prometheusError.ts';

const LEAST_ROOM = 256 * 1024;

/** The body of an answer while it comes. */
export class BodyBuffer {
  /** What has come, but for what was dropped. Stays as it is until there is more. */
  bytes: Buffer = Buffer.alloc(0);
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #most: number;
  #total = 0;
  /** Holds `bytes` once a second chunk has come. One for all chunks: V8 lets megabytes of discarded ones gather. */
  #room: Buffer | undefined = undefined;

  /** @param most bytes that a body may have */
  constructor(body: AsyncIterable<Buffer>, most: number) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#most = most;
  }

  /**
   * Waits for more of the body, and adds it to `bytes`. False when that was all.
   * Throws PrometheusError TooLarge, or what the body ends with when it breaks off.
   */
  async more(): Promise<boolean> {
    const chunk = await this.#next();
    if (chunk === undefined) return false;
    if (this.#total === chunk.length) this.bytes = chunk;
    else this.#append(chunk);
    return true;
  }

  /** Waits for all the rest. Throws what `more` throws. */
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
      throw new PrometheusError('TooLarge', 'the answer is larger than an answer can be; a matcher may be missing');
    }
    return next.value;
  }

  /** Forgets so many of the first bytes. */
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
