import { isIP } from 'node:net';
import { BIND_ADDRESS_FORMS, parseBindAddress, type BindAddress } from '../runtime/server/httpListener.ts';
import { dnsLabel, dnsSubdomain, valueType, type ValueType } from './values.ts';

/** A text of one line, or none. */
export const optionalText = valueType('text', 'a text of one line', (text) =>
  /^[^\0\r\n]*$/.test(text) ? text : undefined,
);

/** A namespaced object: a DNS label, "/" and a DNS subdomain. */
export const namespacedName = valueType(
  'namespace/name',
  'NAMESPACE/NAME, such as default/netchecker-agent',
  (text) => {
    const [namespace = '', name = '', ...rest] = text.split('/');
    const isValid = [dnsLabel.schema.safeParse(namespace), dnsSubdomain.schema.safeParse(name)].every((r) => r.success);
    return isValid && rest.length === 0 ? text : undefined;
  },
);

/** An address that a server must have. */
export const listenAddress: ValueType<BindAddress> = valueType(
  'address',
  BIND_ADDRESS_FORMS.replace('0 (off), ', ''),
  (text) => {
    const read = parseBindAddress(text);
    return read === 'off' ? undefined : read;
  },
);

/** Host and port of a server, IPv6 in brackets. */
export interface HostAndPort {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** As given, for URLs. */
  readonly text: string;
}

export const hostAndPort: ValueType<HostAndPort> = valueType(
  'host:port',
  'a host and a port, such as netchecker-service:8081, 10.0.0.1:8081 or [::1]:8081',
  (text) => {
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text);
    const port = Number(match?.[3]);
    if (match === null || port < 1 || port > 65_535) return undefined;
    return { host: match[1] ?? match[2] ?? '', port, text };
  },
);

/** The most URLs that an agent requests in each interval. */
const MOST_URLS = 50;

/** A URL to request. */
export interface ProbeUrl {
  /** As given: the URL in reports and metrics. */
  readonly text: string;
  readonly url: URL;
}

/** URLs with "," or ";" between them. One without a scheme, as in the help of the original agent, is http. */
export const probeUrls: ValueType<readonly ProbeUrl[]> = valueType(
  'URLs',
  `up to ${MOST_URLS} URLs of http or https without credentials, with "," or ";" between them`,
  (text) => {
    const parts = text.split(/[,;]/).filter((url) => url !== '');
    const urls = parts.map(probeUrlOf).filter((url) => url !== undefined);
    return parts.length <= MOST_URLS && urls.length === parts.length ? urls : undefined;
  },
);

/** Undefined if the text is no URL that a probe can request. */
export function probeUrlOf(text: string): ProbeUrl | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  const isHttp = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isHttp ? { text, url } : undefined;
}

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
