import type { Level } from './levels.ts';

/** Lanes begin together; the levels of a lane run one after the other. */
export type Lanes = readonly (readonly Level[])[];

/** The order of the levels. */
export interface Schedule {
  readonly first: Lanes;
  /** Start after all of `first` have ended. */
  readonly last: Lanes;
}

const LANES = ['for servers', 'for cluster', undefined] as const;

/** Runs in parallel: levels that wait for servers, levels that wait for a cluster, and CPU-bound levels. */
export function scheduleOf(chosen: readonly Level[]): Schedule {
  return { first: lanesOf(chosen.filter(({ last }) => !last)), last: lanesOf(chosen.filter(({ last }) => last)) };
}

function lanesOf(levels: readonly Level[]): Lanes {
  return LANES.map((lane) => levels.filter(({ waits }) => waits === lane)).filter((lane) => lane.length > 0);
}
