/** Path and query of a request. */
export interface HttpTarget {
  /** Unchanged: percent-encoding is not decoded, dot segments are not resolved. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** RFC 9112, 3.2: a path, or a whole URL as for a proxy. */
const TARGET = /^(?:https?:\/\/[^/?#]+)?(\/[^?#]*)(?:\?([^#]*))?/i;

/**
 * Parses the target of a request. Never throws, unlike `new URL` for `//`.
 *
 * @returns undefined for a target without a path, such as `*`
 */
export function readTarget(target: string | undefined): HttpTarget | undefined {
  const [, path, query] = TARGET.exec(target ?? '') ?? [];
  return path === undefined ? undefined : { path, query: new URLSearchParams(query) };
}
