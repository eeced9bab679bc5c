import type { V1ConfigMap } from '@kubernetes/client-node';
import { isOurs } from '../names.ts';

/** The data of one ConfigMap of targets: file name -> content. */
export type TargetsData = Readonly<Record<string, string>>;

/** The last write. Kept only in memory: a new process writes differences at once. */
export interface TargetsWrite {
  readonly data: readonly TargetsData[];
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** The input for the decision about the ConfigMaps of targets. */
export interface TargetsObservation {
  /** The desired data of the ConfigMaps, by index. */
  readonly data: readonly TargetsData[];
  /** The ConfigMaps in the cluster, by index: TARGET_SHARDS entries. */
  readonly live: readonly (V1ConfigMap | undefined)[];
  readonly lastWrite: TargetsWrite | undefined;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/** The plan for the ConfigMaps of targets. `apply` and `remove` are empty while a write has to wait. */
export interface TargetsPlan {
  /** Indexes of ConfigMaps to apply. Includes unchanged ones: Applier compares before it writes. */
  readonly apply: readonly number[];
  /** Indexes of ConfigMaps that are no longer needed. */
  readonly remove: readonly number[];
  /** Indexes of ConfigMaps that another owner created. They are not touched, but reported as a problem. */
  readonly foreign: readonly number[];
  /** Milliseconds until the next write; 0: write now. */
  readonly waitMs: number;
}

/**
 * Minimum time between two writes of different targets: ms. Each write sends up to 0.9 MB to etcd and makes Prometheus
 * reload its targets. Without a limit, a hundred nodes that join within a minute would cause a hundred writes.
 */
export const CHANGE_INTERVAL_MS = 10_000;

/**
 * Minimum time between two writes of the same targets: ms. Prevents a busy loop if another client changes them back.
 */
export const REPAIR_INTERVAL_MS = 1_000;

/**
 * Decides what to write, and when. The first change is written at once. Later changes are collected until
 * CHANGE_INTERVAL_MS after the last write. If the desired data is unchanged since the last write, but the ConfigMaps
 * differ, this is a repair and waits only REPAIR_INTERVAL_MS.
 */
export function planTargets(observation: TargetsObservation): TargetsPlan {
  const { data, live } = observation;
  const foreign = indexesOf(live, (each) => each !== undefined && !isOurs(each));
  const desired = data.map((_, index) => index).filter((index) => !foreign.includes(index));
  const surplus = indexesOf(live, (each, index) => index >= data.length && each !== undefined && isOurs(each));
  const same = surplus.length === 0 && desired.every((index) => isSame(live[index]?.data, data[index]));
  const waitMs = same ? 0 : waitingTime(observation);
  return waitMs > 0 ? { apply: [], remove: [], foreign, waitMs } : { apply: desired, remove: surplus, foreign, waitMs };
}

function waitingTime({ data, lastWrite, now }: TargetsObservation): number {
  if (lastWrite === undefined) return 0;
  const repair =
    lastWrite.data.length === data.length && data.every((each, index) => isSame(lastWrite.data[index], each));
  const interval = repair ? REPAIR_INTERVAL_MS : CHANGE_INTERVAL_MS;
  return Math.max(0, lastWrite.at + interval - now);
}

/** True if `data` has every file of `desired` with its content. Other files do not count. */
function isSame(data: TargetsData | undefined, desired: TargetsData = {}): boolean {
  return Object.entries(desired).every(([file, content]) => data?.[file] === content);
}

function indexesOf<T>(list: readonly T[], matches: (each: T, index: number) => boolean): number[] {
  return list.flatMap((each, index) => (matches(each, index) ? [index] : []));
}
