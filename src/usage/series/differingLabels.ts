/** The labels of a series. */
export type SeriesLabels = Readonly<Record<string, unknown>>;

/** Gives the labels of a series when they are needed. */
export interface LabelSource {
  readonly labels: SeriesLabels;
}

/** Names of the labels in which two series differ: other values, or a label that only one has. Ignores the metric name. */
export function differingLabels(one: SeriesLabels, other: SeriesLabels): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  names.delete('__name__');
  return [...names].filter((name) => one[name] !== other[name]);
}
