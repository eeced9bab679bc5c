import type { Level } from './levels.ts';

/** Lanes begin together; the levels of a lane run one after the other. */
export type Lanes = readonly (readonly Level[])[];

/** In what order levels run. */
export interface Schedule {
  readonly first: Lanes;
  /** Begin when all of those have ended. */
  readonly last: Lanes;
}

const LANES = ['for servers', 'for cluster', undefined] as const;

/** Puts those side by side that wait for servers, those that wait for a cluster, and those that compute. */
export function scheduleOf(chosen: readonly Level[]): Schedule {
  return { first: lanesOf(chosen.filter(({ last }) => !last)), last: lanesOf(chosen.filter(({ last }) => last)) };
}

function lanesOf(levels: readonly Level[]): Lanes {
  return LANES.map((lane) => levels.filter(({ waits }) => waits === lane)).filter((lane) => lane.length > 0);
}
