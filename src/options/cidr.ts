import { isIP } from 'node:net';
import { valueType } from './values.ts';

/** A range of IP addresses. */
export interface Cidr {
  /** As given, such as `169.254.20.10/32`. */
  readonly text: string;
  /** The first address of the range. */
  readonly address: string;
  /** Bits of the prefix. */
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

const IPV6_DIGITS = 32;

/** A range of IP addresses. One with bits beyond the prefix is refused: it is wider than it looks. */
export const cidr = valueType<Cidr>(
  'CIDR',
  'a range of IP addresses without bits beyond its prefix, such as 169.254.20.10/32 or fd00:1::/64',
  (text) => {
    const [, address = '', digits = ''] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
    const prefix = Number(digits);
    if (isIP(address) === 0) return undefined;
    const hex = hexOf(address);
    const bits = BigInt(hex.length * 4);
    if (prefix > bits) return undefined;
    const beyond = BigInt(`0x${hex}`) & ((1n << (bits - BigInt(prefix))) - 1n);
    return beyond === 0n ? { text, address, prefix, family: isIP(address) === 4 ? 'ipv4' : 'ipv6' } : undefined;
  },
);

/** The bytes of an IP address without a zone, as 8 or 32 lower-case hexadecimal digits. */
export function hexOf(address: string): string {
  if (isIP(address) === 4) {
    const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
    return bytes.join('');
  }
  // The parser of URLs writes every notation of IPv6 as groups of hexadecimal digits with at most one "::".
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const first = groups(head);
  return `${first}${groups(tail).padStart(IPV6_DIGITS - first.length, '0')}`;
}

function groups(text: string): string {
  return text === ''
    ? ''
    : text
        .split(':')
        .map((group) => group.padStart(4, '0'))
        .join('');
}
