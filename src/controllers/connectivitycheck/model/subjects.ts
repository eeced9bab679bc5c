/** Between the ends of a link. The arrow is captured. */
export const LINK = / (<?->) /;

/** The nodes, zones or pods that a subject names: both ends of a link. */
export function namesIn(subject: string): string[] {
  const [from = '', arrow, to] = subject.split(LINK);
  return arrow !== undefined && to !== undefined ? [from, to] : [subject];
}
