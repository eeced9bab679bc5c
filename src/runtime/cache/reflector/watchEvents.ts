import { TransportError, type ApiError, errorOfStatus, type Status } from '../../client/errors.ts';
import type { KubeObject } from '../../client/resource.ts';
import type { TransportRequest } from '../../client/transport/types.ts';
import { LineSplitter } from './lines.ts';

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
export interface WatchReader<T> {
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
