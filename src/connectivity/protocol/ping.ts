/** Path of the server that every agent requests, whatever its flags. The probes of the kubelet also use it. */
export const PING_PATH = '/api/v1/ping';

/**
 * Regular expression (RE2, anchored at both ends by Prometheus) for the URL of this path, with TLS and without.
 *
 * @param host expression for host and port; default: any, since agents use different names for the server
 */
export function pingPattern(host = '[^/]+'): string {
  return `https?://${host}${PING_PATH}`;
}
