import { devicesOf, directionOf, measureOf } from '../../../api/trafficwatch/reading.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { Reading } from '../../../usage/evaluate/reading.ts';

/** The reading that a TrafficWatch asks for. Its spec may be absent: a CRD without a schema lets that through. */
export function readingOf({ spec }: Pick<TrafficWatch, 'spec'>): Reading {
  return { direction: directionOf(spec), measure: measureOf(spec), ...devicesOf(spec) };
}
