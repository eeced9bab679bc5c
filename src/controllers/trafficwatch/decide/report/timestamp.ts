/** A time as the API server writes it: RFC 3339 in whole seconds, rounded down. @param ms since the epoch */
export function toTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
