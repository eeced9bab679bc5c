/** Listen address of a server; without a host, all addresses of the machine. */
export interface BindAddress {
  host?: string;
  /** 0: the system chooses. */
  port: number;
}

/** The formats that `parseBindAddress` accepts, for messages. */
export const BIND_ADDRESS_FORMS = '0 (off), :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080';

/**
 * Parses an address in the format of Go's net.Listen: 'host:port' or ':port', IPv6 in brackets.
 *
 * @returns 'off' for '0', undefined for an invalid address
 */
export function parseBindAddress(text: string): BindAddress | 'off' | undefined {
  if (text === '0') {
    return 'off';
  }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    return undefined;
  }
  const host = match[1] ?? match[2] ?? '';
  return host === '' ? { port } : { host, port };
}
