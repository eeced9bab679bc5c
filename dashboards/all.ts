import { connectivity } from './connectivity.ts';
import type { Dashboard } from './dashboard.ts';
import { nodes } from './nodes.ts';
import { operator } from './operator.ts';
import { stacks } from './stacks.ts';
import { trafficwatch } from './trafficwatch.ts';
import { weights } from './weights.ts';

/** All dashboards, by file name. */
export function dashboards(): Readonly<Record<string, Dashboard>> {
  return {
    nodes: nodes(),
    trafficwatch: trafficwatch(),
    operator: operator(),
    connectivity: connectivity(),
    weights: weights(),
    stacks: stacks(),
  };
}
