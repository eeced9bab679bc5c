interface Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/** A list with constant cost at both ends, however long it is. `shift()` of an array moves all other elements. */
export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** Adds a value at the end. */
  push(value: T): void {
    const link = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = link;
    else this.#last.after = link;
    this.#last = link;
  }

  /** Adds a value at the start. */
  unshift(value: T): void {
    const link = { value, before: undefined, after: this.#first };
    if (this.#first === undefined) this.#last = link;
    else this.#first.before = link;
    this.#first = link;
  }

  /** Takes the first value; undefined if the list is empty. */
  shift(): T | undefined {
    const link = this.#first;
    this.#first = link?.after;
    if (this.#first === undefined) this.#last = undefined;
    else this.#first.before = undefined;
    return link?.value;
  }

  /** Takes the last value; undefined if the list is empty. */
  pop(): T | undefined {
    const link = this.#last;
    this.#last = link?.before;
    if (this.#last === undefined) this.#first = undefined;
    else this.#last.after = undefined;
    return link?.value;
  }
}
