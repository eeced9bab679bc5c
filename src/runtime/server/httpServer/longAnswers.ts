import type { HttpAnswer, Incoming, Outgoing } from './exchange.ts';
import type { Failures } from './failures.ts';
import type { HttpLimits } from './limits.ts';

/** A text above this length, in UTF-16 code units, is long: the socket of a slow reader does not take it at once. */
const LONG_TEXT = 64 * 1024;

/** The answer instead of a refused long answer. */
export const TOO_MANY_LONG: HttpAnswer = {
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

/**
 * Bounds the memory that slow readers of long answers occupy. An answer is long if it comes in parts or has more than
 * LONG_TEXT characters.
 *
 * | long answers of the same path that are being sent | a further long answer |
 * |---|---|
 * | `longAnswers` | is refused |
 * | half of it, rounded up, to the same address | is refused, so that one client cannot block the others |
 * | fewer | is sent, for `longAnswerMs` at most; then its connection is closed |
 *
 * Each path has its own limit, so that readers of one path do not block others, such as the scrapes of Prometheus.
 */
export class LongAnswers {
  readonly #limits: HttpLimits;
  readonly #failures: Failures;
  /** The addresses of the readers, by path. A path without readers has no entry. */
  readonly #readers = new Map<string, string[]>();

  constructor(limits: HttpLimits, failures: Failures) {
    this.#limits = limits;
    this.#failures = failures;
  }

  /** Returns whether an answer may be sent. A long answer counts until `ended` is aborted. */
  admits({ path, answer, request, response }: Answered, ended: AbortSignal): boolean {
    if (!isLong(answer) || ended.aborted) return true;
    const { longAnswers, longAnswerMs } = this.#limits;
    const readers = this.#readers.get(path) ?? [];
    const reader = request.socket.remoteAddress ?? '';
    const ofReader = readers.filter((each) => each === reader).length;
    if (readers.length >= longAnswers || ofReader >= Math.ceil(longAnswers / 2)) {
      this.#failures.count('busy');
      return false;
    }
    this.#readers.set(path, [...readers, reader]);
    const timer = setTimeout(() => {
      this.#failures.count('timeout');
      response.destroy();
    }, longAnswerMs);
    const leave = (): void => {
      clearTimeout(timer);
      this.#leave(path, reader);
    };
    ended.addEventListener('abort', leave, { once: true });
    return true;
  }

  #leave(path: string, reader: string): void {
    const readers = this.#readers.get(path) ?? [];
    const left = readers.toSpliced(readers.indexOf(reader), 1);
    if (left.length === 0) this.#readers.delete(path);
    else this.#readers.set(path, left);
  }
}

function isLong({ text, parts }: HttpAnswer): boolean {
  return parts !== undefined || text.length > LONG_TEXT;
}
