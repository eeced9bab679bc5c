import type { Level } from './levels.ts';

/** In what order levels run. */
export interface Schedule {
  /** Begin together; the levels of each run one after the other. */
  readonly sideBySide: readonly (readonly Level[])[];
  /** Run one after the other when all of those have ended. */
  readonly alone: readonly Level[];
}

const LANES = ['for servers', 'for cluster', undefined] as const;

/** Puts those side by side that wait for servers, those that wait for a cluster, and those that compute. */
export function scheduleOf(chosen: readonly Level[]): Schedule {
  const shared = chosen.filter(({ alone }) => !alone);
  const lanes = LANES.map((lane) => shared.filter(({ waits }) => waits === lane));
  return { sideBySide: lanes.filter((levels) => levels.length > 0), alone: chosen.filter(({ alone }) => alone) };
}
