import { parseTrafficWeightSpec, type TrafficWeight } from '../../../../api/trafficweight/trafficWeight.ts';

/** Returns the names of the TrafficWeights that publish in a hosted zone, by the ID of the zone. Invalid or deleted ones have no zones. */
export function zonesOf(weights: readonly TrafficWeight[]): Map<string, string[]> {
  const pairs = weights.flatMap((weight) => {
    if (weight.metadata?.deletionTimestamp !== undefined) return [];
    const parsed = parseTrafficWeightSpec(weight);
    const ids = 'problems' in parsed ? [] : (parsed.spec.hostedZoneIDs ?? []);
    return ids.map((id) => ({ id, name: weight.metadata?.name ?? '' }));
  });
  const byId = Map.groupBy(pairs, ({ id }) => id);
  return new Map([...byId].map(([id, each]) => [id, each.map(({ name }) => name)]));
}
