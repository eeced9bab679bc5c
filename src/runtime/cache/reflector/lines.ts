const NEWLINE = 0x0a;
/** etcd accepts no object above 1.5 MiB by default, so a longer line is not an object. */
const LONGEST_LINE = 32 * 1024 * 1024;

/** Splits a byte stream into lines. It reads every byte once and copies it at most once, for any chunk size. */
export class LineSplitter {
  #parts: Uint8Array[] = [];
  #pending = 0;

  /** Bytes of an incomplete line. */
  get pending(): number {
    return this.#pending;
  }

  /** The lines that this chunk completes, without line ends and empty lines. @throws RangeError for a line that is too
   * long */
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
