/** Returns the value of a query that gives one finite number; else a text for messages that says what the query gives. */
export function singleValue(values: readonly number[]): { readonly value: number } | { readonly instead: string } {
  const [value, ...others] = values;
  if (value === undefined) return { instead: 'no series' };
  if (others.length > 0) return { instead: `${values.length} series` };
  return Number.isFinite(value) ? { value } : { instead: String(value) };
}
