import type { HttpAnswer, Incoming, Outgoing } from './exchange.ts';
import type { FailureReason, Failures } from './failures.ts';
import type { HttpLimits } from './limits.ts';

/** A text above this length, in UTF-16 code units, is long: the socket of a slow reader does not take it at once. */
const LONG_TEXT = 64 * 1024;

/** The answer instead of a refused long answer. */
const TOO_MANY_LONG: HttpAnswer = {
  status: 503,
  text: 'too many long answers are being sent\n',
  headers: { 'retry-after': '5' },
};

interface Answered {
  /** Path of the request. */
  readonly path: string;
  readonly answer: HttpAnswer;
  readonly request: Incoming;
  readonly response: Outgoing;
}

/** A long answer that is being sent. */
interface Reader {
  readonly address: string;
  /** When the server made the newest part, which it does once the client has taken the part before; monotonic, ms. For a text: its start. */
  progressAt: number;
  /** Closes the connection, and frees the place at once. */
  readonly cut: () => void;
}

/**
 * Bounds the memory that slow readers of long answers occupy. An answer is long if it comes in parts or has more than
 * LONG_TEXT characters. Each path has `longAnswers` places; an address has half of them at most, rounded up. A long answer
 * is sent for `longAnswerMs` at most; then its connection is closed.
 *
 * | no place is free for a further answer, and | then |
 * |---|---|
 * | a reader made no progress for `longStalledMs` | it is closed: of the address with most such readers, the one without progress for longest |
 * | an address has at least two readers more than the newcomer's | of its readers, the one without progress for longest is closed |
 * | neither | the further answer is refused |
 *
 * So a client that reads steadily is not closed because of clients that do not read, however many addresses they have.
 * An address at its limit can only replace its own readers. Each path has its own places, so that readers of one path do
 * not block others, such as the scrapes of Prometheus.
 */
export class LongAnswers {
  readonly #limits: HttpLimits;
  readonly #failures: Failures;
  /** By path. A path without readers has no entry. */
  readonly #readers = new Map<string, Set<Reader>>();

  constructor(limits: HttpLimits, failures: Failures) {
    this.#limits = limits;
    this.#failures = failures;
  }

  /** Returns the answer to send: the given one, or TOO_MANY_LONG. A long answer has a place until `ended` is aborted. */
  admit({ path, answer, request, response }: Answered, ended: AbortSignal): HttpAnswer {
    if (!isLong(answer) || ended.aborted) return answer;
    const address = request.socket.remoteAddress ?? '';
    if (!this.#makesRoom(path, address)) {
      this.#failures.count('busy');
      return TOO_MANY_LONG;
    }
    const end = (reason: FailureReason): void => {
      this.#failures.count(reason);
      leave();
      response.destroy();
    };
    const reader: Reader = { address, progressAt: performance.now(), cut: () => end('crowded') };
    const timer = setTimeout(() => end('timeout'), this.#limits.longAnswerMs);
    const leave = (): void => {
      clearTimeout(timer);
      this.#leave(path, reader);
    };
    this.#readers.set(path, (this.#readers.get(path) ?? new Set()).add(reader));
    ended.addEventListener('abort', leave, { once: true });
    return answer.parts === undefined ? answer : { ...answer, parts: watched(answer.parts, reader) };
  }

  /** Returns whether a place is free, after cutting a reader if there is none. */
  #makesRoom(path: string, address: string): boolean {
    const { longAnswers, longStalledMs } = this.#limits;
    const readers = [...(this.#readers.get(path) ?? [])];
    const own = readers.filter((each) => each.address === address);
    const isAtLimit = own.length >= Math.ceil(longAnswers / 2);
    if (readers.length < longAnswers && !isAtLimit) return true;
    const candidates = isAtLimit ? own : readers;
    const stalledSince = performance.now() - longStalledMs;
    const stalled = ofLargest(candidates.filter(({ progressAt }) => progressAt <= stalledSince));
    const most = ofLargest(candidates);
    const replaced = stalled.length > 0 ? stalled : most.length >= own.length + 2 ? most : [];
    replaced.toSorted((a, b) => a.progressAt - b.progressAt)[0]?.cut();
    return replaced.length > 0;
  }

  #leave(path: string, reader: Reader): void {
    const readers = this.#readers.get(path);
    readers?.delete(reader);
    if (readers?.size === 0) this.#readers.delete(path);
  }
}

/** The readers of the address that has most of them. */
function ofLargest(readers: readonly Reader[]): Reader[] {
  const byAddress = [...Map.groupBy(readers, ({ address }) => address).values()];
  return byAddress.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** The parts; each that is made is progress of the reader. */
function* watched(parts: Iterable<string>, reader: Reader): Generator<string> {
  for (const part of parts) {
    reader.progressAt = performance.now();
    yield part;
  }
}

function isLong({ text, parts }: HttpAnswer): boolean {
  return parts !== undefined || text.length > LONG_TEXT;
}
