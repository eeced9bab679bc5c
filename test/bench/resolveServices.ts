import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into the operator with `node --import`. Resolves the name of a Service to the address in `?address=` of this
 * module's URL, as the DNS of a cluster would.
 */
const address = new URL(import.meta.url).searchParams.get('address') ?? '';
const lookup = dns.lookup;

type Callback = (error: null, address: string | dns.LookupAddress[], family?: number) => void;

function resolve(name: string, ...rest: unknown[]): void {
  if (!name.endsWith('.svc')) {
    (lookup as (...all: unknown[]) => void)(name, ...rest);
    return;
  }
  const callback = rest.at(-1) as Callback;
  const { all } = (rest.length > 1 ? rest[0] : {}) as dns.LookupOptions;
  if (all === true) process.nextTick(callback, null, [{ address, family: 4 }]);
  else process.nextTick(callback, null, address, 4);
}

dns.lookup = resolve as typeof dns.lookup;
syncBuiltinESMExports();
