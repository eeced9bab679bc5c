import * as z from 'zod';
import { readDuration } from '../runtime/process/duration.ts';

/** A duration in Go's notation with the units ms, s, m and h. Five digits keep the sum within Go's range. */
const PATTERN = String.raw`^([0-9]{1,5}([.][0-9]{1,3})?(ms|s|m|h))+$`;
const MAX_LENGTH = 32;
const LEAST = '1s';
const MOST = '24h';
const MESSAGE = `must be a duration from "${LEAST}" to "${MOST}", such as "90s", "5m" or "1h30m"`;
const RULE =
  `self.matches('${PATTERN}') && ` + `duration(self) >= duration('${LEAST}') && duration(self) <= duration('${MOST}')`;

function isAllowed(text: string): boolean {
  const ms = new RegExp(PATTERN).test(text) ? readDuration(text) : undefined;
  return ms !== undefined && ms >= durationMs(LEAST) && ms <= durationMs(MOST);
}

/** Schema of an optional field that takes a duration from one second to a day. */
export function durationSchema(description: string) {
  return z
    .string()
    .max(MAX_LENGTH, MESSAGE)
    .refine(isAllowed, MESSAGE)
    .optional()
    .meta({ description, 'x-kubernetes-validations': [{ rule: RULE, message: MESSAGE }] });
}

/** The milliseconds of a duration that `durationSchema` accepted. */
export function durationMs(text: string): number {
  return readDuration(text) ?? 0;
}
