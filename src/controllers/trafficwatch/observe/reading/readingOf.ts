import { devicesOf, directionOf, measureOf } from '../../../../api/trafficwatch/spec/reading.ts';
import type { TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import type { Reading } from '../../../../usage/evaluate/reading.ts';
import { specCapacitiesOf, type NodeLookup } from './specCapacities.ts';

/**
 * The reading that a TrafficWatch asks for. Its spec may be absent: a CRD without a schema lets that through.
 * @param nodeOf looks up the labels of a Node, for `spec.capacity`
 */
export function readingOf({ spec }: Pick<TrafficWatch, 'spec'>, nodeOf: NodeLookup): Reading {
  const capacities = specCapacitiesOf(spec, nodeOf);
  return {
    direction: directionOf(spec),
    measure: measureOf(spec),
    ...devicesOf(spec),
    ...(capacities && { capacities }),
  };
}
