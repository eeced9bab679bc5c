import type { StatedCapacity } from '../../nodes/statedCapacity.ts';

/** Which traffic counts. Receive capacity is the speed of the device, like transmit capacity: links are full duplex. */
export type Direction = 'Transmit' | 'Receive' | 'Max' | 'Sum';

/**
 * How the percent of a node with several devices is computed.
 *
 * - Sum: the sum of their rates in percent of the sum of their speeds.
 * - Fullest: the percent of the fullest device. Devices that do not count, or have no percent, are ignored.
 */
export type Measure = 'Sum' | 'Fullest';

/** The capacities of nodes that a reading states itself. They come before those that the Nodes state. */
export interface StatedCapacities {
  /** Two objects with the same text state the same. */
  readonly text: string;
  /**
   * The capacity of a node as of now; undefined if none is stated. A pass calls it once for each node, so it must be as
   * cheap as a lookup.
   */
  of(node: string): StatedCapacity | undefined;
}

/**
 * The choices by which the percent of a node is computed. A pass evaluates all nodes once for each distinct reading, from
 * the same answers, however many objects share the reading.
 */
export interface Reading {
  readonly direction: Direction;
  /** Default: Sum. */
  readonly measure?: Measure | undefined;
  /** Only devices whose whole name matches count, among those that count otherwise. Syntax of RE2. Default: all. */
  readonly include?: string | undefined;
  /** Devices whose whole name matches do not count. Syntax of RE2. Default: none. */
  readonly exclude?: string | undefined;
  /** Default: none. */
  readonly capacities?: StatedCapacities | undefined;
}

/** Minimum number of passes that are kept of each reading: a verdict compares two. */
export const LEAST_PASSES = 2;

/** The reading that every pass evaluates. */
export const DEFAULT_READING: Reading = { direction: 'Transmit' };

/** Readings have the same key only if they give the same figures. */
export function readingKey({ direction, measure = 'Sum', include, exclude, capacities }: Reading): string {
  return JSON.stringify([direction, measure, include ?? null, exclude ?? null, capacities?.text ?? null]);
}

/** The key of the reading that every pass evaluates. */
export const DEFAULT_KEY = readingKey(DEFAULT_READING);

/** Readings by key. */
export type Readings = ReadonlyMap<string, Reading>;

export const NO_READINGS: ReadonlyMap<string, Reading> = new Map();

/** The distinct readings, without the default one. */
export function distinctReadings(readings: Iterable<Reading>): Readings {
  const distinct = new Map<string, Reading>();
  for (const reading of readings) distinct.set(readingKey(reading), reading);
  distinct.delete(DEFAULT_KEY);
  return distinct;
}

/** True if the reading needs the receive rates. */
export function usesReceived({ direction }: Reading): boolean {
  return direction !== 'Transmit';
}

/** True if a device counts only with a transmit rate and a receive rate. */
export function usesBoth({ direction }: Reading): boolean {
  return direction === 'Max' || direction === 'Sum';
}
