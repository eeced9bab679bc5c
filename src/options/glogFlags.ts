import { flag, type FlagTable } from './flagTable.ts';
import { optionalText } from './connectivityValues.ts';
import { boolean, wholeNumber } from './values.ts';
import type { LOG_LEVELS } from '../runtime/process/logger.ts';

type LogLevel = (typeof LOG_LEVELS)[number];

const IGNORED = 'Accepted for compatibility; this program logs JSON lines to standard output.';

/** The logging flags of Go's glog, which the original server and agent have. */
export const GLOG_FLAGS = {
  v: flag(wholeNumber(0, 10), 'Verbosity of the original program: from 4 on, as --log-level=debug.'),
  logtostderr: flag(boolean, IGNORED),
  alsologtostderr: flag(boolean, IGNORED),
  stderrthreshold: flag(optionalText, IGNORED),
  vmodule: flag(optionalText, IGNORED),
  log_dir: flag(optionalText, IGNORED),
  log_backtrace_at: flag(optionalText, IGNORED),
} as const satisfies FlagTable;

/** The verbosity from which on the original programs log each report. */
const DEBUG_VERBOSITY = 4;

/** The level of a program that has both kinds of flags: the more verbose of the two. */
export function levelOf({ v, logLevel }: { v: number | undefined; logLevel: LogLevel }): LogLevel {
  return v !== undefined && v >= DEBUG_VERBOSITY && logLevel !== 'trace' ? 'debug' : logLevel;
}
