import { areDevicesValid, devicesOf, directionOf, measureOf } from '../../../api/trafficwatch/spec/reading.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { Reading } from '../../../usage/evaluate/reading.ts';

/** The readings to evaluate: not those of TrafficWatches with invalid patterns, which are Stalled. */
export function readingsOf(watches: readonly Pick<TrafficWatch, 'spec'>[]): Reading[] {
  return watches.filter(({ spec }) => areDevicesValid(spec)).map(readingOf);
}

/** The reading that a TrafficWatch asks for. Its spec may be absent: a CRD without a schema lets that through. */
export function readingOf({ spec }: Pick<TrafficWatch, 'spec'>): Reading {
  return { direction: directionOf(spec), measure: measureOf(spec), ...devicesOf(spec) };
}
