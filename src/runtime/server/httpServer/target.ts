/** What a request asks for. */
export interface HttpTarget {
  /** As it was sent: percent signs are not decoded, dots not resolved. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** RFC 9112, 3.2: a path, or in a request that could go to a proxy a whole URL. */
const TARGET = /^(?:https?:\/\/[^/?#]+)?(\/[^?#]*)(?:\?([^#]*))?/i;

/**
 * Reads the target of a request. Whatever was sent, it does not throw, which `new URL` does for `//`.
 *
 * @returns undefined for one without a path, such as `*`
 */
export function readTarget(target: string | undefined): HttpTarget | undefined {
  const [, path, query] = TARGET.exec(target ?? '') ?? [];
  return path === undefined ? undefined : { path, query: new URLSearchParams(query) };
}
