/**
 * Formats a time as metav1.MicroTime in JSON: RFC 3339 in UTC with six fractional digits of the second.
 *
 * @param ms wall clock, milliseconds since 1970
 */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
