const NEWLINE = 0x0a;
/** etcd takes no object above 1.5 MiB by default; a line beyond this is no object. */
const LONGEST_LINE = 32 * 1024 * 1024;

/** Cuts a stream of bytes into lines. Every byte is looked at once and copied at most once, however it is chunked. */
export class LineSplitter {
  #parts: Uint8Array[] = [];
  #pending = 0;

  /** Bytes of a line whose end has not come yet. */
  get pending(): number {
    return this.#pending;
  }

  /** The lines that this chunk completes, without their ends; empty ones are left out. @throws RangeError on a line
   * that is too long to be one */
  push(chunk: Uint8Array): Buffer[] {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#complete(chunk.subarray(start, end));
      if (line.length > 0) lines.push(line);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  #complete(last: Uint8Array): Buffer {
    if (this.#parts.length === 0) return Buffer.from(last.buffer, last.byteOffset, last.byteLength);
    const line = Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#pending = 0;
    return line;
  }

  #keep(rest: Uint8Array): void {
    if (rest.length === 0) return;
    this.#parts.push(rest);
    this.#pending += rest.length;
    if (this.#pending > LONGEST_LINE) throw new RangeError(`a line is longer than ${LONGEST_LINE} bytes`);
  }
}
