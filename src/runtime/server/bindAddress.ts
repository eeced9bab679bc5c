/** Where a server listens; all addresses of the machine when there is no host. */
export interface BindAddress {
  host?: string;
  /** 0 lets the system choose. */
  port: number;
}

/** What `parseBindAddress` takes, for messages. */
export const BIND_ADDRESS_FORMS = '0 (off), :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080';

/**
 * Reads an address as Go's net.Listen takes it: 'host:port' or ':port', IPv6 in brackets.
 *
 * @returns 'off' for '0', undefined for what is no address
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
