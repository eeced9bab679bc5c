/** The only finite number among the values of a query, or what it gives instead: missing data is no number. */
export function singleValue(values: readonly number[]): { readonly value: number } | { readonly instead: string } {
  const [value, ...others] = values;
  if (value === undefined) return { instead: 'no series' };
  if (others.length > 0) return { instead: `${values.length} series` };
  return Number.isFinite(value) ? { value } : { instead: String(value) };
}
