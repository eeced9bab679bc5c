import type { ProbeError, UdpResult } from '../../protocol/measurement.ts';

/** The result of a run of datagrams. */
export interface Run {
  readonly sent: number;
  /** Round-trip times of the echoed datagrams, ms, in any order. Late echoes are added. */
  readonly times: readonly number[];
  /** The last error of the system. */
  readonly error?: ProbeError | undefined;
}

/** The result of a run. Its error counts only if nothing came back. */
export function udpResult({ sent, times, error }: Run): UdpResult {
  const middle = median(times);
  if (middle === undefined) return { sent, received: 0, error: error ?? 'Timeout' };
  return { sent, received: times.length, ms: rounded(middle) };
}

/** The middle of the values; of the two in the middle, their mean. Undefined without a value. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const high = sorted[Math.floor(sorted.length / 2)];
  const low = sorted[Math.ceil(sorted.length / 2) - 1];
  return high === undefined || low === undefined ? undefined : (high + low) / 2;
}

/** Milliseconds to the microsecond, which is what a report needs. */
export function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
