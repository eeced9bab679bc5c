import { BIND_ADDRESS_FORMS, parseBindAddress, type BindAddress } from '../runtime/server/bindAddress.ts';
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
