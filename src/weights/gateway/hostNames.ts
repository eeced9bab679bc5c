import { normal } from '../records/domain.ts';

/**
 * Host names of listeners, or of a route, in an index. Users choose the number of routes, of their parents and host names, and of listeners, and how
 * many labels a name has: finding what two of them have in common must not compare each with each, and the memory must not follow the labels.
 */
export class HostNames {
  /** As DNS compares them, without the names of listeners for any host. */
  readonly #names: ReadonlySet<string>;
  readonly #takesAny: boolean;
  /** The names, sorted by their ends. Made when it is first needed. */
  #byEnd: readonly Reversed[] | undefined;
  /** The domains of the wildcards that no other wildcard covers, reversed and sorted. Made when it is first needed. */
  #wildcards: readonly string[] | undefined;

  /** @param hostnames undefined or empty: any host */
  constructor(hostnames: readonly (string | undefined)[]) {
    const named = hostnames.flatMap((hostname = '') => (hostname === '' ? [] : normal(hostname)));
    this.#names = new Set(named);
    this.#takesAny = named.length < hostnames.length;
  }

  /** Returns whether a name covers each name of `host`. `*.` stands for one label or more. */
  covers(host: string): boolean {
    if (this.#takesAny || this.#names.has(host)) return true;
    this.#wildcards ??= widestWildcards(this.#names);
    if (this.#wildcards.length === 0) return false;
    const end = reversed(host);
    // None of them covers another, so only the last one before the host can cover it.
    const domain = this.#wildcards[firstFrom(this.#wildcards, end) - 1];
    return domain !== undefined && end.startsWith(domain);
  }

  /**
   * Returns the host names that a route and the listeners have in common: the narrower name of each pair that overlaps. See `hostnames` of
   * https://gateway-api.sigs.k8s.io/reference/spec/#httproutespec.
   *
   * @param hostnames of the route; empty: any host
   */
  inCommonWith(hostnames: readonly string[]): string[] {
    if (hostnames.length === 0) return [...this.#names];
    return hostnames.flatMap((host) => [...(this.covers(host) ? [host] : []), ...this.#within(host)]);
  }

  /** Returns the number of names in inCommonWith(), without making the list. */
  countInCommonWith(hostnames: readonly string[]): number {
    if (hostnames.length === 0) return this.#names.size;
    return hostnames.reduce((sum, host) => sum + (this.covers(host) ? 1 : 0) + this.#within(host).length, 0);
  }

  /** Returns the names that a wildcard covers. */
  #within(host: string): readonly string[] {
    if (!host.startsWith('*.')) return [];
    this.#byEnd ??= sortedByEnd(this.#names);
    const ends = this.#byEnd;
    const domain = reversed(host.slice(1));
    const [from, to] = [domain, `${domain}${LAST}`].map((each) => firstFrom(ends, each, ({ end }) => end));
    return ends.slice(from, to).map(({ name }) => name);
  }
}

/** A name with its characters in reverse order: the names within a domain have the same first characters, and are next to each other in a sorted list. */
interface Reversed {
  readonly end: string;
  readonly name: string;
}

/** Sorts after each character of a host name. */
const LAST = '\uffff';

function reversed(text: string): string {
  return text.split('').reverse().join('');
}

function sortedByEnd(names: Iterable<string>): Reversed[] {
  return [...names].map((name) => ({ end: reversed(name), name })).sort((a, b) => (a.end < b.end ? -1 : 1));
}

function widestWildcards(names: ReadonlySet<string>): string[] {
  const wildcards = [...names].filter((name) => name.startsWith('*.'));
  const widest: string[] = [];
  for (const domain of wildcards.map((name) => reversed(name.slice(1))).sort()) {
    const last = widest.at(-1);
    if (last === undefined || !domain.startsWith(last)) widest.push(domain);
  }
  return widest;
}

/** Returns the index of the first item whose text is `text` or sorts after it; the length of the list if there is none. */
function firstFrom<T>(sorted: readonly T[], text: string, textOf: (item: T) => string = String): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const item = sorted[middle];
    if (item !== undefined && textOf(item) < text) from = middle + 1;
    else to = middle;
  }
  return from;
}
