import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Answer, type Conceal, parseJson, remarksOf, vectorOf } from './answerEnvelope.ts';
import { BodyBuffer } from './bodyBuffer.ts';
import { PrometheusError } from './prometheusError.ts';

/** Takes the series of an answer in, in their order; also those before something is found to be wrong with it. */
export interface SeriesVisitor {
  /** @param series an element of `data.result`, as it was parsed */
  visit(series: unknown): void;
  /**
   * Has the place of `visit` for the series of a large answer, where there is one: they are not parsed yet.
   *
   * @param bytes hold the element from `from` to `to`; they are used for others later
   */
  visitBytes?(bytes: Buffer, from: number, to: number): void;
}

/** How an answer is read. */
export interface ReadOptions {
  visitor: SeriesVisitor;
  /** Ends the work by throwing its reason: before anything is visited, and at each chunk and turn. */
  signal: AbortSignal;
  /** A body may have so many bytes. */
  most: number;
  conceal: Conceal;
}

/**
 * Answers up to this length, those of a few hundred nodes, are read in one go. At this length that takes as much CPU and
 * memory as to read them as they come, and the event loop stops for 3 ms: docs/performance.md, "How an answer is read".
 */
const AT_ONCE_BYTES = 128 * 1024;
/** The event loop waits no longer than this, and a few series, for our turn to end. */
const LONGEST_TURN_MS = 8;
const SERIES_A_LOOK = 64;
/** Begins an element but the first. Not possible within a string, where a quote has a backslash before it. */
const BOUNDARY = Buffer.from(',{"metric":');
const RESULT = Buffer.from('"result":[');

/**
 * Reads the body of an instant query's answer. Bodies of megabytes are read while they come, series by series, with
 * turns for others in between. Held as a whole they would be in memory twice, and JSON.parse would stop the event loop for
 * 0.1 s at 8 MB, 0.4 s at 25 MB: docs/performance.md, "How an answer is read".
 *
 * @param body the bytes as they come
 * @returns the rest of the answer. Throws PrometheusError TooLarge, QueryFailed where it is Prometheus' word that the
 * query failed, Unreachable where it breaks off after series were visited, BadAnswer for what is no successful answer
 * with a vector; or what `body` throws when it breaks off before.
 */
export async function readAnswer(body: AsyncIterable<Buffer>, options: ReadOptions): Promise<Answer> {
  options.signal.throwIfAborted();
  const buffer = new BodyBuffer(body, options.most);
  let isWhole = false;
  while (!isWhole && buffer.bytes.length <= AT_ONCE_BYTES) isWhole = !(await buffer.more());
  const start = isWhole ? undefined : startOfElements(buffer.bytes);
  if (start !== undefined) return readElements(buffer, start, options);
  if (!isWhole) await buffer.rest();
  return readAtOnce(buffer.bytes, options);
}

function readAtOnce(body: Buffer, { visitor, signal, conceal }: ReadOptions): Answer {
  signal.throwIfAborted();
  const envelope = parseJson(body.toString('utf8'));
  const result = vectorOf(envelope, conceal);
  for (const series of result) visitor.visit(series);
  return { series: result.length, ...remarksOf(envelope, conceal) };
}

/** Where the elements of the vector begin; undefined where the beginning is not laid out as Prometheus does it. */
function startOfElements(beginning: Buffer): number | undefined {
  const start = beginning.indexOf(RESULT) + RESULT.length;
  if (start < RESULT.length || !beginning.includes(BOUNDARY, start)) return undefined;
  try {
    const closed = JSON.parse(`${beginning.toString('utf8', 0, start)}]}}`) as { status?: unknown };
    return vectorOf({ status: 'success', ...closed }, String).length === 0 ? start : undefined;
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
  if (vectorOf(envelope, options.conceal).length > 0) throw new PrometheusError('BadAnswer', 'the answer is not JSON');
  return { series: elements.count, ...remarksOf(envelope, options.conceal) };
}

/** Series have been visited: to ask again would visit them twice. */
async function moreOf(buffer: BodyBuffer): Promise<boolean> {
  try {
    return await buffer.more();
  } catch (error) {
    if (error instanceof PrometheusError) throw error;
    throw new PrometheusError('Unreachable', 'the connection broke off in the middle of the answer');
  }
}

/** Hands elements to a visitor, in turns. */
class Elements {
  count = 0;
  readonly #options: ReadOptions;
  #turnStart = performance.now();

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  /** Reads the elements that another follows. Returns how many bytes they take. */
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

/** Where the bracket is that closes the array whose last element `body` begins with. */
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
