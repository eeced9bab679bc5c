import * as z from 'zod';
import { readDuration } from '../runtime/process/duration.ts';

/** A duration in Go's notation with the units ms, s, m and h. Five digits keep the sum within Go's range. */
const PATTERN = String.raw`^([0-9]{1,5}([.][0-9]{1,3})?(ms|s|m|h))+$`;
/** A duration without fractions and ms, so always in whole seconds. */
const WHOLE_SECONDS = '^([0-9]{1,5}(s|m|h))+$';
const MAX_LENGTH = 32;

/** The shortest and the longest duration that a field takes. */
export interface DurationBounds {
  readonly least: string;
  readonly most: string;
  /** Examples within the bounds, for messages. */
  readonly examples: string;
  /** Whether it must be in whole seconds. Default: false. */
  readonly inSeconds?: boolean;
}

const SECOND_TO_DAY: DurationBounds = { least: '1s', most: '24h', examples: '"90s", "5m" or "1h30m"' };

function patternOf({ inSeconds = false }: DurationBounds): string {
  return inSeconds ? WHOLE_SECONDS : PATTERN;
}

function isAllowed(text: string, bounds: DurationBounds): boolean {
  const { least, most } = bounds;
  const ms = new RegExp(patternOf(bounds)).test(text) ? readDuration(text) : undefined;
  return ms !== undefined && ms >= durationMs(least) && ms <= durationMs(most);
}

/**
 * Schema of an optional field that takes a duration, by default from one second to a day.
 * @param description the form and the bounds are added to it, since `kubectl explain` shows no rules
 */
export function durationSchema(description: string, bounds: DurationBounds = SECOND_TO_DAY) {
  const { least, most, examples, inSeconds = false } = bounds;
  const form = `a duration ${inSeconds ? 'in whole seconds ' : ''}from "${least}" to "${most}", such as ${examples}`;
  const message = `must be ${form}`;
  const rule =
    `self.matches('${patternOf(bounds)}') && ` +
    `duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`;
  return z
    .string()
    .max(MAX_LENGTH, message)
    .refine((text) => isAllowed(text, bounds), message)
    .optional()
    .meta({ description: `${description} The value is ${form}.`, 'x-kubernetes-validations': [{ rule, message }] });
}

/** The milliseconds of a duration that `durationSchema` accepted. */
export function durationMs(text: string): number {
  return readDuration(text) ?? 0;
}
