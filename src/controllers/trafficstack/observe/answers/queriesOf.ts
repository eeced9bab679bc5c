import type { TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';

/** The queries that decide whether components are ready: by query, the names of the stacks that have it. */
export function queriesOf(stacks: readonly TrafficStack[]): ReadonlyMap<string, ReadonlySet<string>> {
  const queries = new Map<string, Set<string>>();
  for (const { metadata, spec } of stacks) {
    // An older CRD may have accepted anything.
    for (const { ready } of (spec as Partial<TrafficStack['spec']> | undefined)?.components ?? []) {
      if (typeof ready?.query !== 'string') continue;
      const names = queries.get(ready.query) ?? new Set();
      queries.set(ready.query, names.add(metadata?.name ?? ''));
    }
  }
  return queries;
}
