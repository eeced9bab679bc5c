/**
 * Shortens a text for a status, an event or a log to `most` characters. Never half a surrogate pair, which the API server
 * does not keep.
 */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
