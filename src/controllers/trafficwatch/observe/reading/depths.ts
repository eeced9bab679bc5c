/** Counts how many passes of each reading are needed. */
export class Depths {
  /** By the key of the reading: how many need so many passes, by their number. */
  readonly #needed = new Map<string, number[]>();

  /**
   * Counts a need.
   * @returns a function that ends the need. Call it once.
   */
  add(key: string, passes: number): () => void {
    const needed = this.#needed.get(key) ?? [];
    this.#needed.set(key, needed);
    needed[passes] = (needed[passes] ?? 0) + 1;
    return () => {
      needed[passes] = (needed[passes] ?? 0) - 1;
      while (needed.length > 0 && !needed.at(-1)) needed.pop();
      if (needed.length === 0) this.#needed.delete(key);
    };
  }

  /** The most passes that anybody needs; 0 if nobody needs the reading. */
  of(key: string): number {
    return Math.max((this.#needed.get(key)?.length ?? 0) - 1, 0);
  }
}
