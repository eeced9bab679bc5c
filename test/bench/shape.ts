/** The benchmark's cluster. All modules number nodes in the same way. */

/** Network devices per node, all physical. */
export const DEVICES = ['eth0', 'eth1', 'eth2'] as const;
/** Speed of each in bytes per second: 1 Gbit/s. */
export const SPEED_BYTES = 125_000_000;
/** One of this many nodes is busy. */
const BUSY_EVERY = 10;
const BUSY_PERCENT = 30;
const IDLE_PERCENT = 5;

/** 'node-00007' */
export const nodeName = (index: number): string => `node-${String(index).padStart(5, '0')}`;

/** Constant bandwidth use of a node in percent. Only the threshold of a TrafficWatch changes its verdict. */
export function percentOf(index: number): number {
  return index % BUSY_EVERY === 0 ? BUSY_PERCENT : IDLE_PERCENT + (index % 7);
}

/** Two thresholds. Only the busy nodes change their verdict between them. */
export const ABOVE_ALL = '95';
export const BELOW_BUSY = '18';

/** Number of nodes whose verdict changes between the two thresholds. */
export const busyNodes = (nodes: number): number => Math.ceil(nodes / BUSY_EVERY);
