import * as z from 'zod';
import { isPattern, LONGEST_PATTERN, PATTERN_RULE } from './devicePattern.ts';

const MEASURES = ['Sum', 'Fullest'] as const;

/** How the percent of a node with several devices is calculated. */
export type Measure = (typeof MEASURES)[number];

/** The schema has no default, so that an object without the field stays unchanged. */
export const measureSchema = z
  .enum(MEASURES)
  .optional()
  .meta({
    description:
      'How the percent of a node with several devices is calculated: Sum (the default), the sum of their rates in percent of the ' +
      'sum of their speeds, or Fullest, the percent of the fullest device.',
  });

/** Returns the measure of the spec; Sum if the measure is absent or unknown. */
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

/** Returns the direction of the spec; Transmit if the direction is absent or unknown: another CRD may have let it through. */
export function directionOf(spec: { readonly direction?: Direction | undefined } | null | undefined): Direction {
  return DIRECTIONS.find((direction) => direction === spec?.direction) ?? 'Transmit';
}

/**
 * Patterns that choose among the devices that count. The API server checks only the length: CEL cannot compile a pattern.
 */
export const devicesSchema = z
  .object({
    include: pattern(
      'Only devices whose whole name matches count, if the operator counts them at all. A regular expression in the ' +
        'syntax of RE2, such as "bond.*|eth0". By default all of them count.',
    ),
    exclude: pattern(
      'Devices whose whole name matches do not count, even if they match include. A regular expression in the syntax of RE2. Default: none.',
    ),
  })
  .optional()
  .meta({ description: 'Chooses among the devices of a node that count. By default all of them count.' });

/** The patterns of a spec. */
interface DevicesSpec {
  readonly devices?:
    { readonly include?: string | undefined; readonly exclude?: string | undefined } | null | undefined;
}

/** Returns the patterns of the spec, valid or not. A value that is not a text is left out: another CRD may have let it through. */
export function devicesOf(spec: DevicesSpec | null | undefined): {
  readonly include?: string;
  readonly exclude?: string;
} {
  const { include, exclude } = spec?.devices ?? {};
  return {
    ...(typeof include === 'string' && { include }),
    ...(typeof exclude === 'string' && { exclude }),
  };
}

/** Whether the patterns of the spec are valid. An invalid pattern must never run: it may take all the time or memory. */
export function areDevicesValid(spec: DevicesSpec | null | undefined): boolean {
  return Object.values(devicesOf(spec)).every(isPattern);
}

function pattern(description: string) {
  return z
    .string(PATTERN_RULE)
    .min(1, PATTERN_RULE)
    .max(LONGEST_PATTERN, PATTERN_RULE)
    .refine((value) => isPattern(value), PATTERN_RULE)
    .optional()
    .meta({ description });
}
