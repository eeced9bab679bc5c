/**
 * Counts by member, and finds a member with the highest count at constant cost: members are kept by their count, which
 * changes by one at a time.
 */
export class Busiest<T> {
  /** Members by their count. */
  readonly #byCount: T[][] = [];
  readonly #places = new Map<T, { readonly count: number; readonly index: number }>();
  #most = 0;

  /** The count of a member, 0 if it was never added. */
  of(member: T): number {
    return this.#places.get(member)?.count ?? 0;
  }

  /** A member with the highest count; undefined if all counts are 0. */
  get first(): T | undefined {
    return this.#byCount[this.#most]?.at(-1);
  }

  /** Adds one to the count of a member. */
  add(member: T): void {
    this.#move(member, 1);
  }

  /** Takes one from the count of a member. A member whose count is 0 takes no memory. */
  remove(member: T): void {
    this.#move(member, -1);
  }

  #move(member: T, step: 1 | -1): void {
    const count = this.of(member) + step;
    this.#takeOut(member);
    if (count > 0) {
      const members = (this.#byCount[count] ??= []);
      this.#places.set(member, { count, index: members.length });
      members.push(member);
    }
    if (count > this.#most) this.#most = count;
    // The highest count falls by one at most: the member that had it now has one less.
    else if (this.#most > 0 && this.#byCount[this.#most]?.length === 0) this.#most -= 1;
  }

  /** The last of the members with the same count takes the place. */
  #takeOut(member: T): void {
    const place = this.#places.get(member);
    if (place === undefined) return;
    this.#places.delete(member);
    const members = this.#byCount[place.count] ?? [];
    const last = members.pop();
    if (last === undefined || last === member) return;
    members[place.index] = last;
    this.#places.set(last, place);
  }
}
