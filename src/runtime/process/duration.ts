const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a duration like Go's time.ParseDuration: a sequence of decimal numbers, each with a unit (ns, us, ms, s, m,
 * h), such as '10s', '1m30s' or '1.5h'. Rejects negative durations.
 *
 * @returns milliseconds; undefined if the text is not a valid duration
 */
export function readDuration(text: string): number | undefined {
  if (text === '0') {
    return 0;
  }
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(text)) {
    return undefined;
  }
  const parts = [...text.matchAll(/([\d.]+)([^\d.]+)/g)];
  const ms = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
  // Round to nanoseconds, like Go: in floating point, 4.1m would be 245999.99999999997 ms and not 246 s.
  return Math.round(ms * 1e6) / 1e6;
}

const DAY_MS = 86_400_000;
/** Year, week, day, hour, minute, second in milliseconds: the order that Prometheus requires. */
const PROMETHEUS_UNITS = [365 * DAY_MS, 7 * DAY_MS, DAY_MS, 3_600_000, 60_000, 1000];

/** Parses a duration in Prometheus' notation, such as '1d12h', to milliseconds. Undefined if it is invalid. */
export function prometheusDuration(text: string): number | undefined {
  const match = /^(?=\d)(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text);
  const numbers: (string | undefined)[] | undefined = match?.slice(1);
  return numbers?.reduce((sum, number = '0', index) => sum + Number(number) * (PROMETHEUS_UNITS[index] ?? 0), 0);
}
