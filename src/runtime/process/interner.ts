/**
 * Returns one shared object for equal values, to save memory if many nodes have equal values. Values are equal if their
 * texts are equal. It keeps at most `most` values, and forgets all of them when one more is added. Returned objects
 * stay valid, but are not shared with later values.
 */
export class Interner<T> {
  readonly #byText = new Map<string, T>();
  readonly #textOf: (value: T) => string;
  readonly #most: number;

  /**
   * @param textOf returns equal texts for equal values only. Default: JSON
   * @param most default: no limit, for an interner with a short life
   */
  constructor({ textOf = JSON.stringify, most = Infinity }: { textOf?: (value: T) => string; most?: number } = {}) {
    this.#textOf = textOf;
    this.#most = most;
  }

  /** The first value that is equal to this one, or this one if there was none. */
  share(value: T): T {
    const text = this.#textOf(value);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    if (this.#byText.size >= this.#most) this.#byText.clear();
    this.#byText.set(text, value);
    return value;
  }
}
