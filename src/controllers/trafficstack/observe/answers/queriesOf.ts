import type { TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';

/**
 * The queries of components that should exist, which decide whether they are ready, and whether they may be changed: by query, the
 * names of the stacks that have it.
 */
export function queriesOf(stacks: readonly TrafficStack[]): ReadonlyMap<string, ReadonlySet<string>> {
  const queries = new Map<string, Set<string>>();
  for (const { metadata, spec } of stacks) {
    if (metadata?.deletionTimestamp !== undefined) continue;
    // An older CRD may have accepted anything.
    const { components = [], upgrade } = (spec as Partial<TrafficStack['spec']> | undefined) ?? {};
    const existing = components.filter(({ mode }) => mode !== 'Disabled');
    for (const query of [upgrade?.query, ...existing.map(({ ready }) => ready?.query)]) {
      if (typeof query !== 'string') continue;
      const names = queries.get(query) ?? new Set();
      queries.set(query, names.add(metadata?.name ?? ''));
    }
  }
  return queries;
}
