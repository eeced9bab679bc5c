import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import type { Clock } from './clock.ts';

/** The type of the option `lookup` of Node.js' connections. */
export type LookupFunction = (
  host: string,
  options: LookupOptions,
  done: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** Resolves to all addresses of a host. @throws an Error with a code, such as ENOTFOUND or EAI_AGAIN */
type Ask = (host: string) => Promise<LookupAddress[]>;

/** Code of the error if the name does not exist. With other codes, the name server did not answer or failed. */
const NO_SUCH_NAME = 'ENOTFOUND';

/**
 * Looks up names by the resolver of the system, as Node.js does, with a time limit and with the last known addresses.
 *
 * getaddrinfo(3) cannot be cancelled. With a silent name server it takes 10 s for each search domain, and Node.js runs
 * two lookups at a time; so calls for one name share the lookup in progress.
 */
export class NameLookup {
  readonly #clock: Clock;
  readonly #ask: Ask;
  readonly #asked = new Map<string, Promise<LookupAddress[]>>();
  readonly #known = new Map<string, LookupAddress[]>();

  constructor(clock: Clock, ask: Ask = askSystem) {
    this.#clock = clock;
    this.#ask = ask;
  }

  /** @throws Error with a code: ETIMEDOUT if there is no answer within `waitMs` */
  async addresses(host: string, waitMs: number): Promise<LookupAddress[]> {
    const over = new AbortController();
    const timeout = this.#clock.sleep(waitMs, over.signal).then(() => {
      throw Object.assign(new Error(`no address of ${host} within ${waitMs} ms`), { code: 'ETIMEDOUT' });
    });
    try {
      return await Promise.race([this.#shared(host), timeout]);
    } finally {
      timeout.catch(() => undefined);
      over.abort();
    }
  }

  /**
   * Returns a lookup for connections:
   *
   * | the name server | addresses |
   * |---|---|
   * | answers within `waitMs` | the addresses of the answer |
   * | answers that the name does not exist | an error |
   * | is silent, or fails | the last known addresses; an error if there are none |
   */
  lastKnown(waitMs: number): LookupFunction {
    return lookupBy(async (host) => {
      try {
        return await this.addresses(host, waitMs);
      } catch (error) {
        const known = this.#known.get(host);
        if (known === undefined || (error as NodeJS.ErrnoException).code === NO_SUCH_NAME) throw error;
        return known;
      }
    });
  }

  /** Returns a lookup without time limit and last known addresses: for probes that measure the name server. */
  fresh(): LookupFunction {
    return lookupBy((host) => this.#shared(host));
  }

  #shared(host: string): Promise<LookupAddress[]> {
    const underWay = this.#asked.get(host);
    if (underWay !== undefined) return underWay;
    const asked = this.#ask(host)
      .then((addresses) => {
        this.#known.set(host, addresses);
        return addresses;
      })
      .finally(() => this.#asked.delete(host));
    this.#asked.set(host, asked);
    return asked;
  }
}

function lookupBy(addressesOf: (host: string) => Promise<LookupAddress[]>): LookupFunction {
  return (host, { all = false, family = 0 }, done) => {
    const version = Number(String(family).replace('IPv', ''));
    addressesOf(host).then(
      (found) => {
        const usable = found.filter((each) => version === 0 || each.family === version);
        const [first] = usable;
        if (first === undefined) done(Object.assign(new Error(`no address of ${host}`), { code: NO_SUCH_NAME }), []);
        else if (all) done(null, usable);
        else done(null, first.address, first.family);
      },
      (error: unknown) => done(error as NodeJS.ErrnoException, []),
    );
  };
}

function askSystem(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });
}
