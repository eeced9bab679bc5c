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
 * Reads a duration as Go's time.ParseDuration does: decimal numbers, each with a unit (ns, us, ms, s, m, h), one after
 * another: '10s', '1m30s', '1.5h'. Negative ones are not taken.
 *
 * @returns milliseconds; undefined for what is no such duration
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
  // To the nanosecond, which is Go's unit: 4.1m is 246 s there, and 245999.99999999997 ms in floating point.
  return Math.round(ms * 1e6) / 1e6;
}
