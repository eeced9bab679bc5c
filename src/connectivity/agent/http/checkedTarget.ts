import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from '../../../runtime/process/nameLookup.ts';
import type { TargetRefusal } from '../../protocol/measurement.ts';
import { withoutZone, type TargetRule } from './targetRule.ts';

/** A request that was not sent, since its address must not be requested. */
export class RefusedTarget extends Error {
  readonly address: string;
  readonly reason: TargetRefusal;

  constructor(host: string, address: string, reason: TargetRefusal) {
    super(`${host} is not requested: ${address} is refused (${reason})`);
    this.name = 'RefusedTarget';
    this.address = withoutZone(address);
    this.reason = reason;
  }
}

/**
 * The refusal of a URL whose host is an address: Node.js looks up names only. The parser of URLs has already written all forms
 * of IPv4, such as 0x7f.1 and 2130706433, as four numbers.
 */
export function refusedHost({ hostname }: URL, rule: TargetRule): RefusedTarget | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  const reason = isIP(host) === 0 ? undefined : rule(host);
  return reason && new RefusedTarget(host, host, reason);
}

/**
 * Returns a name lookup that answers only with addresses that may be requested. The connection uses these, so that no second lookup
 * can have another answer. Fails with RefusedTarget if there are addresses and none may be requested.
 */
export function checkedLookup(rule: TargetRule, inner: LookupFunction = systemLookup): LookupFunction {
  return (host, options, done) =>
    inner(host, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        done(error, []);
        return;
      }
      const addresses = found as LookupAddress[];
      const allowed = addresses.filter(({ address }) => rule(address) === undefined);
      const [first] = allowed;
      if (first === undefined) done(refusalOf(host, addresses, rule), []);
      else if (options.all === true) done(null, allowed);
      else done(null, first.address, first.family);
    });
}

function refusalOf(host: string, [first]: readonly LookupAddress[], rule: TargetRule): NodeJS.ErrnoException {
  const { address = '' } = first ?? {};
  const reason = address === '' ? undefined : rule(address);
  if (reason !== undefined) return new RefusedTarget(host, address, reason);
  return Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' });
}
