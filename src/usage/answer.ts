import { setImmediate as nextTurn } from 'node:timers/promises';
import { PrometheusError } from './prometheusError.ts';

/** The envelope of an instant query's answer; the series have gone to `visit`. */
export interface Answer {
  /** How many series there were. */
  series: number;
  warnings: readonly string[];
  infos: readonly string[];
}

interface Envelope {
  status?: unknown;
  data?: { resultType?: unknown; result?: unknown } | null;
  warnings?: unknown;
  infos?: unknown;
}

const MOST_REMARKS = 5;
const LONGEST_REMARK = 300;
/** JSON.parse of this much takes about a millisecond. */
const CHUNK_BYTES = 128 * 1024;
/** The event loop waits no longer than this, and a chunk, for our turn to end. */
const LONGEST_TURN_MS = 8;
/** Begins an element but the first. Not possible within a string, where a quote has a backslash before it. */
const BOUNDARY = Buffer.from(',{"metric":');
const RESULT = Buffer.from('"result":[');

/**
 * Reads the body of an instant query's answer. Bodies of megabytes are parsed piece by piece, with turns for others
 * in between: JSON.parse of 30,000 series at once would stop the event loop for 50 ms and more.
 *
 * @param body the bytes as they came
 * @param visit is given each element of `data.result`, in order; those before an error is found, too
 * @param signal ends the work by throwing its reason: before anything is visited, and between pieces
 * @param conceal takes out of a remark what nobody may see
 * @returns the rest of the answer. Throws PrometheusError BadAnswer for what is no successful answer with a vector.
 */
export async function readAnswer(
  body: Buffer,
  visit: (series: unknown) => void,
  signal: AbortSignal,
  conceal: (remark: string) => string = (remark) => remark,
): Promise<Answer> {
  signal.throwIfAborted();
  const whole = { body, visit, signal, conceal };
  const inPieces = body.length > CHUNK_BYTES ? await readInPieces(whole) : undefined;
  return inPieces ?? readAtOnce(whole);
}

interface Reading {
  body: Buffer;
  visit: (series: unknown) => void;
  signal: AbortSignal;
  conceal: (remark: string) => string;
}

function readAtOnce({ body, visit, conceal }: Reading): Answer {
  const envelope = parse(body.toString('utf8')) as Envelope | null;
  const result = vectorOf(envelope);
  for (const series of result) visit(series);
  return { series: result.length, ...remarksOf(envelope, conceal) };
}

/** Undefined where the body is not laid out as Prometheus does it; nothing was visited then. */
async function readInPieces({ body, visit, signal, conceal }: Reading): Promise<Answer | undefined> {
  const start = body.indexOf(RESULT) + RESULT.length;
  const lastBoundary = body.lastIndexOf(BOUNDARY);
  if (start < RESULT.length || lastBoundary < start) return undefined;
  const end = endOfArray(body, lastBoundary + 1);
  const envelope = tryParse(`${body.toString('utf8', 0, start)}${body.toString('utf8', end)}`);
  if (!holdsEmptyVector(envelope)) return undefined;
  let series = 0;
  let turnStart = performance.now();
  for (const [from, to] of pieces(body, start, end)) {
    const elements = parse(`[${body.toString('utf8', from, to)}]`) as unknown[];
    for (const element of elements) visit(element);
    series += elements.length;
    if (performance.now() - turnStart < LONGEST_TURN_MS) continue;
    await nextTurn();
    signal.throwIfAborted();
    turnStart = performance.now();
  }
  return { series, ...remarksOf(envelope, conceal) };
}

/** Ranges of whole elements without the commas between ranges. */
function* pieces(body: Buffer, start: number, end: number): Generator<[from: number, to: number]> {
  for (let from = start; from < end;) {
    const boundary = body.indexOf(BOUNDARY, from + CHUNK_BYTES);
    const to = boundary < 0 || boundary >= end ? end : boundary;
    yield [from, to];
    from = to + 1;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Where the bracket is that closes the array in which `from` stands, outside of any element. */
function endOfArray(body: Buffer, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < body.length; at++) {
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

function vectorOf(envelope: unknown): unknown[] {
  const { status, data } = (envelope ?? {}) as Envelope;
  if (status !== 'success') throw new PrometheusError('BadAnswer', 'the answer is not one of the Prometheus API');
  if (data?.resultType !== 'vector' || !Array.isArray(data.result)) {
    throw new PrometheusError('BadAnswer', 'the answer holds no vector');
  }
  return data.result;
}

/** What is left of an answer when its series are cut out. */
function holdsEmptyVector(envelope: Envelope | undefined): boolean {
  const result = envelope?.data?.result;
  return (
    envelope?.status === 'success' &&
    envelope.data?.resultType === 'vector' &&
    Array.isArray(result) &&
    result.length === 0
  );
}

function remarksOf(
  envelope: Envelope | null | undefined,
  conceal: Reading['conceal'],
): { warnings: string[]; infos: string[] } {
  return { warnings: remarks(envelope?.warnings, conceal), infos: remarks(envelope?.infos, conceal) };
}

function remarks(found: unknown, conceal: Reading['conceal']): string[] {
  if (!Array.isArray(found)) return [];
  const texts = found.filter((remark): remark is string => typeof remark === 'string');
  return texts.slice(0, MOST_REMARKS).map((text) => conceal(text).slice(0, LONGEST_REMARK));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The exception's message quotes the text.
    throw new PrometheusError('BadAnswer', 'the answer is not JSON');
  }
}

function tryParse(text: string): Envelope | undefined {
  try {
    return JSON.parse(text) as Envelope;
  } catch {
    return undefined;
  }
}
