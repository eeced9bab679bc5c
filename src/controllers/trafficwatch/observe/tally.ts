/** Values by a text that stands for each. A value stays as long as somebody needs it. */
export class Tally<V> {
  readonly #entries = new Map<string, { readonly value: V; needed: number }>();
  #values: ReadonlyMap<string, V> | undefined;

  /** All values by their texts. The same map until a value is added or removed; never changed in place. */
  get values(): ReadonlyMap<string, V> {
    this.#values ??= new Map([...this.#entries].map(([text, { value }]) => [text, value]));
    return this.#values;
  }

  /**
   * Counts a need.
   * @param create creates the value if nobody has needed it yet
   * @returns a function that ends the need. Call it once.
   */
  add(text: string, create: () => V): () => void {
    const entry = this.#entryOf(text, create);
    entry.needed++;
    return () => {
      if (--entry.needed > 0) return;
      this.#entries.delete(text);
      this.#values = undefined;
    };
  }

  #entryOf(text: string, create: () => V): { readonly value: V; needed: number } {
    const known = this.#entries.get(text);
    if (known !== undefined) return known;
    const entry = { value: create(), needed: 0 };
    this.#entries.set(text, entry);
    this.#values = undefined;
    return entry;
  }
}
