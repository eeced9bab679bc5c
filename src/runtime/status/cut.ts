/**
 * Shortens a text for a status, an event or a log to `most` characters. Never half a surrogate pair, which the API server
 * does not keep.
 */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** The first names of a list, and how many more there are: "a, b and 3 more". */
export function firstOf(names: readonly string[], most: number): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
