import type { Machine } from '../machine.ts';
import { percentile } from '../statistics.ts';
import type { Finished } from './steadyLoad.ts';

/**
 * In the order of the table. `by hand` is the limit of what placement can do: the user names the full node in the affinity
 * of the pods. It shares the processors of the machine with iperf3, which `idle` does not.
 */
export const SCENARIOS = ['idle', 'default', 'by hand', 'Preferred', 'Required'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** The results of the requests of one window. */
export interface Tally {
  readonly due: number;
  readonly answered: number;
  readonly failed: number;
  readonly answeredPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** How late the client itself sent a request, 99th percentile. It is part of the latencies. */
  readonly lateP99Ms: number;
}

/** One scenario of one repetition. */
export interface Measurement extends Tally {
  readonly scenario: Scenario;
  /** From 1. */
  readonly repetition: number;
  /** By the node's name; 0 for a node without replicas. */
  readonly replicas: Readonly<Record<string, number>>;
  /** From the start of the load on, during the roll, until the window began. */
  readonly failedBefore: number;
  /** Mbit/s of a download from each replica, one after the other. */
  readonly downloads: readonly number[];
}

/** The result of `make bench-effect`. */
export interface EffectRun extends Machine {
  readonly command: string;
  /** Name of the node whose link is full in all scenarios but idle. */
  readonly fullNode: string;
  readonly requestsPerSecond: number;
  readonly responseBytes: number;
  readonly downloadBytes: number;
  readonly windowSeconds: number;
  readonly repetitions: number;
  readonly measurements: readonly Measurement[];
}

/**
 * @param seconds length of the window
 * @throws RangeError if no request was answered: there is no latency then
 */
export function tallyOf(requests: readonly Finished[], seconds: number): Tally {
  const latencies = requests.flatMap(({ latencyMs }) => latencyMs ?? []);
  return {
    due: requests.length,
    answered: latencies.length,
    failed: requests.length - latencies.length,
    answeredPerSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
    lateP99Ms: percentile(
      requests.map(({ lateMs }) => lateMs),
      0.99,
    ),
  };
}
