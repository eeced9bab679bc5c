import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { hexOf, type Cidr } from '../../../options/connectivityValues.ts';
import type { LookupFunction } from '../../../runtime/process/nameLookup.ts';
import type { TargetRefusal } from '../../protocol/measurement.ts';

/** Why an IP address must not be requested; undefined if it may be. */
export type TargetRule = (address: string) => TargetRefusal | undefined;

/**
 * Addresses that lead to the node of the agent or to its cloud, whatever the cluster. The first range of an address counts.
 *
 * | range | source |
 * |---|---|
 * | 0.0.0.0/8, :: | RFC 1122 3.2.1.3, RFC 4291 2.5.2; Linux connects to loopback |
 * | 127.0.0.0/8, ::1 | RFC 1122 3.2.1.3, RFC 4291 2.5.3 |
 * | 169.254.0.0/16, fe80::/10 | RFC 3927, RFC 4291 2.5.6; metadata of most clouds, the node-local DNS |
 * | 224.0.0.0/4, ff00::/8 | RFC 5771, RFC 4291 2.7 |
 * | 255.255.255.255 | RFC 919 |
 * | fd00:ec2::/32, fd20:ce::254 | metadata of AWS and of Google Cloud over IPv6 |
 * | 100.100.100.200, 168.63.129.16, 192.0.0.192 | metadata of Alibaba Cloud, Azure and Oracle Cloud |
 */
const RANGES: readonly (readonly [TargetRefusal, ...(readonly [string, number])[]])[] = [
  ['Unspecified', ['0.0.0.0', 8], ['::', 128]],
  ['Loopback', ['127.0.0.0', 8], ['::1', 128]],
  ['LinkLocal', ['169.254.0.0', 16], ['fe80::', 10]],
  ['Multicast', ['224.0.0.0', 4], ['ff00::', 8]],
  ['Broadcast', ['255.255.255.255', 32]],
  [
    'CloudMetadata',
    ['fd00:ec2::', 32],
    ['fd20:ce::254', 128],
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
    ['192.0.0.192', 32],
  ],
];

/** Digits of an IPv4 address, in hexadecimal. */
const IPV4_DIGITS = 8;
/**
 * Prefixes whose addresses a gateway or a tunnel translates to the IPv4 address in them, and the digit at which it begins. The
 * IPv4-mapped addresses of RFC 4291 2.5.5.2 are not among them: a BlockList takes them for IPv4, as sockets do.
 */
const TRANSLATED: readonly (readonly [string, number])[] = [
  // IPv4-compatible, RFC 4291 2.5.5.1.
  ['000000000000000000000000', 24],
  // IPv4-translated, RFC 2765 2.1.
  ['0000000000000000ffff0000', 24],
  // NAT64: RFC 6052 2.1, RFC 8215.
  ['0064ff9b0000000000000000', 24],
  ['0064ff9b0001', 24],
  // 6to4, RFC 3056 2.
  ['2002', 4],
];
/** IPv6 addresses of their own among the IPv4-compatible ones: `::` and `::1`. */
const NOT_COMPATIBLE = /^0{31}[01]$/;

const FIXED = RANGES.map(([reason, ...ranges]) => [reason, blockList(ranges)] as const);

/**
 * The rule for addresses that users choose. An address is allowed if a range of `allowed` has it; else it is refused if it is
 * in RANGES or an address of this network namespace. A refused IPv4 address is also refused as an IPv6 address that is
 * translated to it.
 *
 * @param own addresses of the interfaces of this network namespace, which belongs to the node or to the pod
 */
export function targetRule(allowed: readonly Cidr[], own: readonly string[]): TargetRule {
  const allows = blockList(allowed.map(({ address, prefix }) => [address, prefix] as const));
  const mine = blockList(own.map((address) => [withoutZone(address), isIP(address) === 4 ? 32 : 128] as const));
  const ranges = [...FIXED, ['OwnAddress', mine] as const];
  return (address) => {
    for (const form of formsOf(withoutZone(address))) {
      if (has(allows, form)) continue;
      const [reason] = ranges.find(([, list]) => has(list, form)) ?? [];
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

/** Returns an IP address without its zone, such as `fe80::1` for `fe80::1%eth0`. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

/** The addresses that a connection may lead to: the address, and the IPv4 address that is in it. */
function formsOf(address: string): string[] {
  if (isIP(address) === 4) return [address];
  const hex = hexOf(address);
  const [, at] = TRANSLATED.find(([prefix]) => hex.startsWith(prefix)) ?? [];
  return at === undefined || NOT_COMPATIBLE.test(hex) ? [address] : [address, ipv4At(hex, at)];
}

function ipv4At(hex: string, at: number): string {
  const bytes = hex.slice(at, at + IPV4_DIGITS).match(/../g) ?? [];
  return bytes.map((byte) => parseInt(byte, 16)).join('.');
}

function blockList(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, familyOf(address));
  return list;
}

function has(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

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
