/**
 * Returns one object for all values that are equal, so that memory holds once what many nodes have in common. Equal are
 * values of one text. It lives as long as its owner, and holds `most` values: when one more comes, it forgets all. What
 * it returned stays valid; only later values are not the same objects.
 */
export class Interner<T> {
  readonly #byText = new Map<string, T>();
  readonly #textOf: (value: T) => string;
  readonly #most: number;

  /**
   * @param textOf has a text of its own for each value that is not equal; JSON by default
   * @param most unlimited by default: for an owner that lives as long as one piece of work
   */
  constructor({ textOf = JSON.stringify, most = Infinity }: { textOf?: (value: T) => string; most?: number } = {}) {
    this.#textOf = textOf;
    this.#most = most;
  }

  /** The first value that was equal to this one; this one where none was. */
  share(value: T): T {
    const text = this.#textOf(value);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    if (this.#byText.size >= this.#most) this.#byText.clear();
    this.#byText.set(text, value);
    return value;
  }
}
