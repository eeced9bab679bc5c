import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import type { Clock } from './clock.ts';

/** As the option `lookup` of Node.js' connections. */
export type LookupFunction = (
  host: string,
  options: LookupOptions,
  done: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** All addresses of a host. @throws an Error with a code, such as ENOTFOUND or EAI_AGAIN */
export type Ask = (host: string) => Promise<LookupAddress[]>;

/** The name server says that there is no such name; other errors are those of a name server that does not answer. */
const NO_SUCH_NAME = 'ENOTFOUND';

/**
 * Looks names up by the system, as Node.js does, with a limit of time and with the addresses that were last known.
 *
 * getaddrinfo(3) cannot be cancelled. With a silent name server it takes 10 s for each search domain, and Node.js runs
 * two of them at a time; so a lookup of a name that is under way is shared.
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
   * The addresses of a connection that is to be opened:
   *
   * | the name server | addresses |
   * |---|---|
   * | answers within `waitMs` | those |
   * | says that there is no such name | an error |
   * | is silent, or fails | those that were last known; an error if there are none |
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

  /** Only what the name server answers, for as long as the caller waits: for probes that measure it. */
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
