import * as z from 'zod';

const MEASURES = ['Sum', 'Fullest'] as const;

/** What the percent of a node with several devices is. */
export type Measure = (typeof MEASURES)[number];

/** The schema has no default, as that of `directionSchema`. */
export const measureSchema = z
  .enum(MEASURES)
  .optional()
  .meta({
    description:
      'What the percent of a node with several devices is: Sum (the default), the sum of their rates in percent of the ' +
      'sum of their speeds, or Fullest, the percent of the fullest device.',
  });

/** The measure of the spec; Sum if it has none, or one that does not exist. */
export function measureOf(spec: { readonly measure?: Measure | undefined } | null | undefined): Measure {
  return spec?.measure === 'Fullest' ? 'Fullest' : 'Sum';
}

const DIRECTIONS = ['Transmit', 'Receive', 'Max', 'Sum'] as const;

/** Which traffic of a node counts. */
export type Direction = (typeof DIRECTIONS)[number];

/** The schema has no default, so that an object without the field stays unchanged. */
export const directionSchema = z
  .enum(DIRECTIONS)
  .optional()
  .meta({
    description:
      'Which traffic counts: Transmit (the default), Receive, Max (the larger of the two percentages) or Sum (both ' +
      'rates together in percent of the capacity, up to 200 on a full-duplex link). Each direction has the whole ' +
      'speed of a device as its capacity.',
  });

/** The direction of the spec; Transmit if it has none, or one that does not exist: another CRD may have let that through. */
export function directionOf(spec: { readonly direction?: Direction | undefined } | null | undefined): Direction {
  return DIRECTIONS.find((direction) => direction === spec?.direction) ?? 'Transmit';
}
