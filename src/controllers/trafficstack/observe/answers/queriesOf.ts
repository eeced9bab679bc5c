import { componentsIn, type TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';
import { isEnabled } from '../../model/graph.ts';

/**
 * The queries of components that should exist, which decide whether they are ready, and whether they may be changed: by query, the
 * names of the stacks that have it.
 */
export function queriesOf(stacks: readonly TrafficStack[]): ReadonlyMap<string, ReadonlySet<string>> {
  const queries = new Map<string, Set<string>>();
  for (const stack of stacks) {
    const { metadata, spec } = stack;
    if (metadata?.deletionTimestamp !== undefined) continue;
    const existing = componentsIn(stack).filter(isEnabled);
    // An older CRD may have accepted anything.
    const { upgrade } = (spec as Partial<TrafficStack['spec']> | undefined) ?? {};
    for (const query of [upgrade?.query, ...existing.map(({ ready }) => ready?.query)]) {
      if (typeof query !== 'string') continue;
      const names = queries.get(query) ?? new Set();
      queries.set(query, names.add(metadata?.name ?? ''));
    }
  }
  return queries;
}
