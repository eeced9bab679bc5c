/** What the benchmark's cluster is made of. Everything that speaks of a node numbers it the same way. */

/** Network devices of a node, all of them physical. */
export const DEVICES = ['eth0', 'eth1', 'eth2'] as const;
/** Bytes per second of each: 1 Gbit/s. */
export const SPEED_BYTES = 125_000_000;
/** One node of so many is busy. */
const BUSY_EVERY = 10;
const BUSY_PERCENT = 30;
const IDLE_PERCENT = 5;

/** 'node-00007' */
export const nodeName = (index: number): string => `node-${String(index).padStart(5, '0')}`;

/** Percent of its capacity that a node sends, for ever the same: what turns a node is a TrafficWatch's threshold. */
export function percentOf(index: number): number {
  return index % BUSY_EVERY === 0 ? BUSY_PERCENT : IDLE_PERCENT + (index % 7);
}

/** Thresholds between which the busy nodes turn, and no others. */
export const ABOVE_ALL = '95';
export const BELOW_BUSY = '18';

/** How many nodes turn when the threshold goes from one to the other. */
export const busyNodes = (nodes: number): number => Math.ceil(nodes / BUSY_EVERY);
