import { TransportError, type ApiError, errorOfStatus, type Status } from '../../client/errors.ts';
import type { KubeObject } from '../../client/resource.ts';
import type { TransportRequest } from '../../client/transport/types.ts';

/** An event of a watch. */
export type WatchEvent<T> =
  | { type: 'set'; object: T; version: string }
  | { type: 'delete'; object: T; version: string }
  /** A bookmark: no changes up to this version. `initialEnd` marks the end of the initial objects. */
  | { type: 'bookmark'; version: string; initialEnd: boolean };

/** A line that is truncated, not JSON, or not an event. The message omits its text, which may contain secrets. */
export class BadLineError extends Error {
  constructor(what: string) {
    super(`a line of the watch ${what}`);
    this.name = 'BadLineError';
  }
}

/** Marks the bookmark that ends the initial events of a watch-list (KEP-3157). */
const INITIAL_END = 'k8s.io/initial-events-end';

interface RawEvent {
  type?: string;
  object?: KubeObject & Status;
}

/** Receives the events. */
interface WatchReader<T> {
  event(event: WatchEvent<T>): void;
  /** The connection was lost in the middle of a line. */
  cutOff(): void;
}

/**
 * Reads a watch to its end and delivers each event.
 *
 * @param request for messages
 * @throws ApiError for an ERROR event; BadLineError; TransportError if the connection is lost
 */
export async function readWatch<T extends KubeObject>(
  stream: AsyncIterable<Uint8Array>,
  request: TransportRequest,
  reader: WatchReader<T>,
): Promise<void> {
  const splitter = new LineSplitter();
  try {
    for await (const chunk of stream) {
      for (const line of split(splitter, chunk)) reader.event(parseEvent<T>(line, request));
    }
  } catch (error) {
    if (error instanceof TransportError && splitter.pending > 0) reader.cutOff();
    throw error;
  }
  if (splitter.pending > 0) throw new BadLineError('is cut off');
}

function split(splitter: LineSplitter, chunk: Uint8Array): Buffer[] {
  try {
    return splitter.push(chunk);
  } catch {
    throw new BadLineError('is too long');
  }
}

function parseEvent<T extends KubeObject>(line: Buffer, request: TransportRequest): WatchEvent<T> {
  const { type, object } = parseJson(line);
  if (type === 'ERROR' && object !== undefined) throw errorOf(object, request);
  const version = object?.metadata?.resourceVersion;
  if (object === undefined || version === undefined) throw new BadLineError('is not an event');
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'set', object: named(object) as T, version };
    case 'DELETED':
      return { type: 'delete', object: named(object) as T, version };
    case 'BOOKMARK':
      return { type: 'bookmark', version, initialEnd: object.metadata?.annotations?.[INITIAL_END] === 'true' };
    default:
      throw new BadLineError('is of an unknown type');
  }
}

function parseJson(line: Buffer): RawEvent {
  try {
    const event: unknown = JSON.parse(line.toString());
    if (typeof event === 'object' && event !== null) return event;
  } catch {
    // Reported below, without the text.
  }
  throw new BadLineError('is not JSON');
}

function named(object: KubeObject): KubeObject {
  if (object.metadata?.name === undefined) throw new BadLineError('is about an object without a name');
  return object;
}

function errorOf(status: Status, request: TransportRequest): ApiError {
  return errorOfStatus({ request, status: status.code ?? 500, now: 0 }, status);
}

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
