import { RE2JS } from 're2js';
import * as z from 'zod';

/** Longest pattern, in characters: enough for the names of twenty devices. */
const LONGEST_PATTERN = 256;
/**
 * Most repetitions that a pattern may count, as in `[a-z]{2,15}`: no name of a device has more than 15 characters (IFNAMSIZ
 * of Linux).
 */
const MOST_REPETITIONS = 15;
/**
 * Longest pattern with its repetitions written out, in characters: those in a repeated group multiply, since RE2 compiles
 * them as often. 300 take less than 10 ms to compile and 1 ms for a name. Without this bound, 28 characters of nested
 * repetitions could take 5 ms for a name, and 256 characters 30 ms.
 */
const LONGEST_WRITTEN_OUT = 300;
/** Most instructions of a compiled pattern of that length: two for each optional character, as in `a{0,15}`, and some more. */
const MOST_INSTRUCTIONS = 2 * LONGEST_WRITTEN_OUT + 20;

/** The rule of a pattern, as the end of a sentence that begins with its field and its value. */
const PATTERN_RULE =
  'must be a regular expression in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), without lookaround and ' +
  `backreferences, of 1 to ${LONGEST_PATTERN} characters, that repeats nothing more than ${MOST_REPETITIONS} times (names ` +
  `of devices are no longer) and has at most ${LONGEST_WRITTEN_OUT} characters with its repetitions written out, such as ` +
  '15 for [a-z]{1,15}';

/** The longest pattern that the schema of the API server accepts. */
export { LONGEST_PATTERN };

/** Most patterns whose validity is cached: enough for the patterns of all TrafficWatches that are evaluated. */
const MOST_REMEMBERED = 5_000;
const remembered = new Map<string, boolean>();

/** Whether a text follows PATTERN_RULE. Compiles it only once: each reconcile validates its spec. */
export function isPattern(text: string): boolean {
  let isValid = remembered.get(text);
  if (isValid === undefined) {
    const [oldest] = remembered.keys();
    if (oldest !== undefined && remembered.size >= MOST_REMEMBERED) remembered.delete(oldest);
    remembered.set(text, (isValid = compiles(text)));
  }
  return isValid;
}

/** Whether a pattern, valid or not, takes milliseconds at most: it has the lengths and repetitions of PATTERN_RULE. */
export function isBounded(pattern: string): boolean {
  if (pattern.length > LONGEST_PATTERN) return false;
  const { writtenOut, mostRepetitions } = extentOf(pattern);
  return mostRepetitions <= MOST_REPETITIONS && writtenOut <= LONGEST_WRITTEN_OUT;
}

function compiles(pattern: string): boolean {
  if (pattern === '' || !isBounded(pattern)) return false;
  try {
    return RE2JS.compile(pattern).programSize() <= MOST_INSTRUCTIONS;
  } catch {
    return false;
  }
}

/** One part of a pattern: a quotation, flags, an escape, a class, a repetition with its counts, or any other character. */
const PART =
  /\\Q[^]*?(?:\\E|$)|\\E|\(\?[a-zA-Z-]*\)|\\(?:[pPx]\{[^}]*\}|[pP]?[^])|\[\^?\]?(?:\[:[^\]]*:\]|\\[^]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[^]/gu;
/** Parts that RE2 may skip: a repetition after such a part repeats the part before it. */
const MAY_BE_NOTHING = /^(?:\\[QE]|\(\?[a-zA-Z-]*\))/;
/** A second repetition is valid after flags or an empty quotation, and repeats the first: `(?:ab)+(?s){15}`. */
const REPETITION = /^[*+?]$/;

/**
 * Returns the length of a pattern with its repetitions written out, where a class or an escape is one character, and the
 * largest number of repetitions. The numbers for an invalid pattern have no meaning.
 */
function extentOf(pattern: string): { readonly writtenOut: number; readonly mostRepetitions: number } {
  /** The lengths of the open groups, the innermost one last. */
  const open = [0];
  /** The length of the part that a repetition after it would repeat. */
  let last = 0;
  let mostRepetitions = 0;
  const append = (length: number): void => void open.push((open.pop() ?? 0) + length);
  for (const [part, least, most] of pattern.matchAll(PART)) {
    if (least !== undefined) {
      const count = Math.max(Number(least), Number(most ?? 0), 1);
      mostRepetitions = Math.max(mostRepetitions, count);
      append(last * (count - 1));
      last *= count;
    } else if (MAY_BE_NOTHING.test(part) || REPETITION.test(part)) {
      append(part.length);
      last += part.length;
    } else if (part === '(') {
      open.push(1);
    } else {
      last = part === ')' ? 1 + (open.pop() ?? 0) : 1;
      append(last);
    }
  }
  return { writtenOut: open.reduce((sum, length) => sum + length, 0), mostRepetitions };
}

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
  readonly devices?: z.infer<typeof devicesSchema> | null;
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
