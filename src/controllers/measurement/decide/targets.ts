import type { V1ConfigMap } from '@kubernetes/client-node';
import { isOurs } from '../names.ts';

/** What one ConfigMap of targets holds: contents by file name. */
export type TargetsData = Readonly<Record<string, string>>;

/** What was last written, kept in memory only: a new process writes at once what it finds to be different. */
export interface TargetsWrite {
  readonly data: readonly TargetsData[];
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Everything that a decision about the target ConfigMaps may look at. */
export interface TargetsObservation {
  /** What the ConfigMaps shall say, by index. */
  readonly data: readonly TargetsData[];
  /** The ConfigMaps there are, by index; as many as there may be. */
  readonly live: readonly (V1ConfigMap | undefined)[];
  readonly lastWrite: TargetsWrite | undefined;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/** What is to be done about them. Everything empty: they are to be left as they are until `waitMs` is over. */
export interface TargetsPlan {
  /** Indexes of ConfigMaps to apply. Most are as they should be: whoever applies them compares first. */
  readonly apply: readonly number[];
  /** Indexes of ConfigMaps that are no longer needed. */
  readonly remove: readonly number[];
  /** Indexes of ConfigMaps that somebody else made: left alone, and to be named. */
  readonly foreign: readonly number[];
  /** Milliseconds until it may be written; 0: now. */
  readonly waitMs: number;
}

/**
 * The least time between two writes of different targets. Each costs a write of up to 0.9 MB to etcd and a new set of
 * targets in Prometheus, and a hundred nodes that join within a minute would cause a hundred of them.
 */
export const CHANGE_INTERVAL_MS = 10_000;

/** The least time between two writes of the same targets, so that a quarrel about a ConfigMap is no busy loop. */
export const REPAIR_INTERVAL_MS = 1_000;

/**
 * Decides what to write, and when: the first change at once, later ones CHANGE_INTERVAL_MS after the write before,
 * whatever came together by then. Targets that were written and are no longer there are no change, but a repair.
 */
export function planTargets(observation: TargetsObservation): TargetsPlan {
  const { data, live } = observation;
  const foreign = indexesOf(live, (each) => each !== undefined && !isOurs(each));
  const wanted = data.map((_, index) => index).filter((index) => !foreign.includes(index));
  const surplus = indexesOf(live, (each, index) => index >= data.length && each !== undefined && isOurs(each));
  const same = surplus.length === 0 && wanted.every((index) => isSame(live[index]?.data, data[index]));
  const waitMs = same ? 0 : waitingTime(observation);
  return waitMs > 0 ? { apply: [], remove: [], foreign, waitMs } : { apply: wanted, remove: surplus, foreign, waitMs };
}

function waitingTime({ data, lastWrite, now }: TargetsObservation): number {
  if (lastWrite === undefined) return 0;
  const repair =
    lastWrite.data.length === data.length && data.every((each, index) => isSame(lastWrite.data[index], each));
  const interval = repair ? REPAIR_INTERVAL_MS : CHANGE_INTERVAL_MS;
  return Math.max(0, lastWrite.at + interval - now);
}

/** True when every file of `wanted` is there as it should be; others are another one's, or about to go. */
function isSame(data: TargetsData | undefined, wanted: TargetsData = {}): boolean {
  return Object.entries(wanted).every(([file, content]) => data?.[file] === content);
}

function indexesOf<T>(list: readonly T[], matches: (each: T, index: number) => boolean): number[] {
  return list.flatMap((each, index) => (matches(each, index) ? [index] : []));
}
