import type { TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';

/** The queries of components that should exist, which decide whether they are ready: by query, the names of the stacks that have it. */
export function queriesOf(stacks: readonly TrafficStack[]): ReadonlyMap<string, ReadonlySet<string>> {
  const queries = new Map<string, Set<string>>();
  for (const { metadata, spec } of stacks) {
    if (metadata?.deletionTimestamp !== undefined) continue;
    // An older CRD may have accepted anything.
    for (const { ready, mode } of (spec as Partial<TrafficStack['spec']> | undefined)?.components ?? []) {
      if (typeof ready?.query !== 'string' || mode === 'Disabled') continue;
      const names = queries.get(ready.query) ?? new Set();
      queries.set(ready.query, names.add(metadata?.name ?? ''));
    }
  }
  return queries;
}
