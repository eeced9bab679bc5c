import { normal } from '../records/domain.ts';

/**
 * Host names of listeners, or of a route, in an index. Users choose the number of routes, of their parents and host names, and of listeners: finding
 * what two of them have in common must not compare each with each.
 */
export class HostNames {
  /** As DNS compares them, without the names of listeners for any host. */
  readonly #names: ReadonlySet<string>;
  readonly #takesAny: boolean;
  /** The names within each domain, which begins with a dot. Made when it is first needed. */
  #byDomain: ReadonlyMap<string, readonly string[]> | undefined;

  /** @param hostnames undefined or empty: any host */
  constructor(hostnames: readonly (string | undefined)[]) {
    const named = hostnames.flatMap((hostname = '') => (hostname === '' ? [] : normal(hostname)));
    this.#names = new Set(named);
    this.#takesAny = named.length < hostnames.length;
  }

  /** Returns whether a name covers each name of `host`. `*.` stands for one label or more. */
  covers(host: string): boolean {
    if (this.#takesAny || this.#names.has(host)) return true;
    return domainsAround(host).some((domain) => this.#names.has(`*${domain}`));
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
    this.#byDomain ??= byDomain(this.#names);
    return this.#byDomain.get(host.slice(1)) ?? [];
  }
}

function byDomain(names: Iterable<string>): Map<string, string[]> {
  const pairs = [...names].flatMap((name) => domainsAround(name).map((domain) => ({ domain, name })));
  const grouped = Map.groupBy(pairs, ({ domain }) => domain);
  return new Map([...grouped].map(([domain, each]) => [domain, each.map(({ name }) => name)]));
}

/** Returns the domains that contain a name, such as `.b.c` and `.c` for `a.b.c`. `*.b.c` is also in `.b.c`. */
function domainsAround(name: string): string[] {
  const rest = name.replace(/^[*]/, '');
  return [...rest.matchAll(/[.]/g)].map(({ index }) => rest.slice(index));
}
