import { setImmediate as nextTurn } from 'node:timers/promises';
import { PrometheusError } from './prometheusError.ts';

/** Receives the series of an answer, in their order. An error may follow after some series were visited. */
export interface SeriesVisitor {
  /** @param series a parsed element of `data.result` */
  visit(series: unknown): void;
  /**
   * Receives the unparsed series of a large answer. Without this method, `visit` receives them parsed.
   *
   * @param bytes contain the element from `from` to `to`. Copy what you keep: the buffer is reused
   */
  visitBytes?(bytes: Buffer, from: number, to: number): void;
}

/** Options of `readAnswer`. */
interface ReadOptions {
  visitor: SeriesVisitor;
  /** Once it is aborted, reading throws its reason: checked at the start and at each chunk and turn. */
  signal: AbortSignal;
  /** Largest body, in bytes. */
  most: number;
  conceal: Conceal;
  type: ResultType;
}

/**
 * Up to this length, about a few hundred nodes, an answer is parsed as a whole. At this length, both ways take the same
 * CPU and memory, and parsing blocks the event loop for 3 ms: docs/performance.md, "How an answer is read".
 */
const AT_ONCE_BYTES = 128 * 1024;
/** Longest time without yielding to the event loop, checked every few series. */
const LONGEST_TURN_MS = 8;
const SERIES_A_LOOK = 64;
/** The start of every element except the first. A string cannot contain these bytes, because it escapes quotes. */
const BOUNDARY = Buffer.from(',{"metric":');
const RESULT = Buffer.from('"result":[');

/**
 * Reads the answer to an instant query. Streams a large body series by series, and yields to the event loop in between.
 * A whole body would be in memory twice, and JSON.parse would block the event loop: 0.1 s at 8 MB, 0.4 s at 25 MB. See
 * docs/performance.md, "How an answer is read".
 *
 * Throws PrometheusError:
 * - TooLarge if the body exceeds `most`
 * - QueryFailed if Prometheus reports that the query failed
 * - Unreachable if the connection closes after series were visited
 * - BadAnswer if the body is not a successful answer of the type
 *
 * Throws the error of `body` if it fails before any series was visited, and the reason of an aborted signal.
 *
 * @returns the answer without its series
 */
export async function readAnswer(body: AsyncIterable<Buffer>, options: ReadOptions): Promise<Answer> {
  options.signal.throwIfAborted();
  const buffer = new BodyBuffer(body, options.most);
  let isWhole = false;
  while (!isWhole && buffer.bytes.length <= AT_ONCE_BYTES) isWhole = !(await buffer.more());
  const start = isWhole ? undefined : startOfElements(buffer.bytes, options.type);
  if (start !== undefined) return readElements(buffer, start, options);
  if (!isWhole) await buffer.rest();
  return readAtOnce(buffer.bytes, options);
}

function readAtOnce(body: Buffer, { visitor, signal, conceal, type }: ReadOptions): Answer {
  signal.throwIfAborted();
  const envelope = parseJson(body.toString('utf8'));
  const result = seriesOf(envelope, conceal, type);
  for (const series of result) visitor.visit(series);
  return { series: result.length, ...remarksOf(envelope, conceal) };
}

/** Offset of the first element. Undefined if the body does not have the layout that Prometheus writes. */
function startOfElements(beginning: Buffer, type: ResultType): number | undefined {
  const start = beginning.indexOf(RESULT) + RESULT.length;
  if (start < RESULT.length || !beginning.includes(BOUNDARY, start)) return undefined;
  try {
    const closed = JSON.parse(`${beginning.toString('utf8', 0, start)}]}}`) as { status?: unknown };
    return seriesOf({ status: 'success', ...closed }, String, type).length === 0 ? start : undefined;
  } catch {
    return undefined;
  }
}

async function readElements(buffer: BodyBuffer, start: number, options: ReadOptions): Promise<Answer> {
  const head = buffer.bytes.toString('utf8', 0, start);
  buffer.drop(start);
  const elements = new Elements(options);
  do {
    buffer.drop(await elements.readComplete(buffer.bytes));
  } while (await moreOf(buffer));
  const end = endOfArray(buffer.bytes);
  elements.read(buffer.bytes, 0, end);
  const envelope = parseJson(`${head}${buffer.bytes.toString('utf8', end)}`);
  if (seriesOf(envelope, options.conceal, options.type).length > 0)
    throw new PrometheusError('BadAnswer', 'the answer is not JSON');
  return { series: elements.count, ...remarksOf(envelope, options.conceal) };
}

/** Series have been visited, so a retry would visit them twice: throws PrometheusError, which is not retried. */
async function moreOf(buffer: BodyBuffer): Promise<boolean> {
  try {
    return await buffer.more();
  } catch (error) {
    if (error instanceof PrometheusError) throw error;
    throw new PrometheusError('Unreachable', 'the connection closed in the middle of the answer');
  }
}

/** Passes elements to a visitor, and yields to the event loop. */
class Elements {
  count = 0;
  readonly #options: ReadOptions;
  #turnStart = performance.now();

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  /** Reads all elements except the last, which may be incomplete. Returns their length in bytes. */
  async readComplete(bytes: Buffer): Promise<number> {
    this.#options.signal.throwIfAborted();
    let from = 0;
    for (;;) {
      const to = bytes.indexOf(BOUNDARY, from);
      if (to < 0) return from;
      this.read(bytes, from, to);
      from = to + 1;
      if (this.count % SERIES_A_LOOK === 0) await this.#letOthersIn();
    }
  }

  read(bytes: Buffer, from: number, to: number): void {
    const { visitor } = this.#options;
    if (visitor.visitBytes === undefined) visitor.visit(parseSeries(bytes, from, to));
    else visitor.visitBytes(bytes, from, to);
    this.count++;
  }

  async #letOthersIn(): Promise<void> {
    if (performance.now() - this.#turnStart < LONGEST_TURN_MS) return;
    await nextTurn();
    this.#options.signal.throwIfAborted();
    this.#turnStart = performance.now();
  }
}

/** Parses one element. Throws PrometheusError BadAnswer. */
export function parseSeries(bytes: Buffer, from: number, to: number): unknown {
  return parseJson(bytes.toString('utf8', from, to));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Offset of the bracket that closes the array. `body` starts with the last element of the array. */
function endOfArray(body: Buffer): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte) && --depth < 0) return at;
  }
  return body.length;
}

/** The answer to an instant query, without its series. */
export interface Answer {
  /** Number of series. */
  series: number;
  warnings: readonly string[];
  infos: readonly string[];
}

/** The type of the result of a query: one sample (vector) or the samples of a range (matrix) for each series. */
export type ResultType = 'vector' | 'matrix';

/** Removes secrets from a text. */
export type Conceal = (text: string) => string;

/** The parsed body of an answer, not validated. */
interface Envelope {
  status?: unknown;
  errorType?: unknown;
  error?: unknown;
  data?: { resultType?: unknown; result?: unknown } | null;
  warnings?: unknown;
  infos?: unknown;
  /** VictoriaMetrics sends it. */
  isPartial?: unknown;
}

const MOST_REMARKS = 5;
const LONGEST_REMARK = 300;
const LONGEST_ERROR = 200;

/**
 * Returns the error message of Prometheus for a failed query, shortened. Undefined for any other body. Prometheus sends it with
 * status 400, 422 or 503 (https://prometheus.io/docs/prometheus/latest/querying/api/).
 */
export function errorOf(body: unknown, conceal: Conceal): string | undefined {
  const { status, errorType, error } = (body ?? {}) as Envelope;
  if (status !== 'error' || typeof errorType !== 'string') return undefined;
  const text = `${errorType}: ${typeof error === 'string' ? error : 'no error text'}`;
  return conceal(text).replaceAll(/\s+/g, ' ').slice(0, LONGEST_ERROR);
}

/** Returns the series of an answer. Throws PrometheusError QueryFailed, or BadAnswer if the answer is not of this type. */
function seriesOf(body: unknown, conceal: Conceal, type: ResultType): unknown[] {
  const failure = errorOf(body, conceal);
  if (failure !== undefined) throw new PrometheusError('QueryFailed', failure);
  const { status, data } = (body ?? {}) as Envelope;
  if (status !== 'success') throw new PrometheusError('BadAnswer', 'the answer does not come from the Prometheus API');
  if (data?.resultType !== type || !Array.isArray(data.result)) {
    throw new PrometheusError('BadAnswer', `the answer contains no ${type}`);
  }
  return data.result;
}

const PARTIAL = 'isPartial: a storage node did not answer, so series may be missing';

/**
 * Returns the warnings and infos of an answer: at most five of each, shortened. Adds a warning for `"isPartial": true`: vmselect
 * sends only this field, and no warning, when a storage node is unavailable and its series are missing
 * (https://docs.victoriametrics.com/victoriametrics/cluster-victoriametrics/#cluster-availability).
 */
function remarksOf(body: unknown, conceal: Conceal): Omit<Answer, 'series'> {
  const { warnings, infos, isPartial } = (body ?? {}) as Envelope;
  const partial = isPartial === true ? [PARTIAL] : [];
  return { warnings: [...partial, ...remarks(warnings, conceal)], infos: remarks(infos, conceal) };
}

function remarks(found: unknown, conceal: Conceal): string[] {
  if (!Array.isArray(found)) return [];
  const texts = found.filter((remark): remark is string => typeof remark === 'string');
  return texts.slice(0, MOST_REMARKS).map((text) => conceal(text).slice(0, LONGEST_REMARK));
}

/** Throws PrometheusError BadAnswer if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Do not reuse the message of the exception: it quotes the text, which may contain secrets.
    throw new PrometheusError('BadAnswer', 'the answer is not JSON');
  }
}

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
