import type { Level } from '../levels.ts';

/** Lanes begin together; the levels of a lane run one after the other. */
export type Lanes = readonly (readonly Level[])[];

const LANES = ['for servers', 'for cluster', undefined] as const;
const PHASES = [undefined, 1, 2] as const;

/**
 * The phases that have levels, one after the other. In each these run in parallel: levels that wait for servers, levels that wait for a cluster,
 * and CPU-bound levels.
 */
export function phasesOf(chosen: readonly Level[]): readonly Lanes[] {
  const phases = PHASES.map((phase) => lanesOf(chosen.filter((level) => level.phase === phase)));
  return phases.filter((lanes) => lanes.length > 0);
}

function lanesOf(levels: readonly Level[]): Lanes {
  return LANES.map((lane) => levels.filter(({ waits }) => waits === lane)).filter((lane) => lane.length > 0);
}
