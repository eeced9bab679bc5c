import { areDevicesValid } from '../../../../api/trafficwatch/spec/reading.ts';
import { MOST_PASSES, passesOf } from '../../../../api/trafficwatch/spec/passes.ts';
import type { TrafficWatch } from '../../../../api/trafficwatch/schema.ts';
import {
  DEFAULT_KEY,
  DEFAULT_READING,
  LEAST_PASSES,
  readingKey,
  type Reading,
} from '../../../../usage/evaluate/reading.ts';
import { readingOf } from './readingOf.ts';
import type { NodeLookup } from './specCapacities.ts';

/** The figures that a TrafficWatch needs. */
export interface ReadingNeed {
  readonly reading: Reading;
  /** See readingKey. */
  readonly key: string;
  /** The number of passes that are kept. */
  readonly passes: number;
}

/**
 * Returns the reading and the passes that a TrafficWatch needs. Its spec may be invalid: another CRD may have let it through.
 * Then an invalid pattern gives the default reading, and only numbers of passes that the schema allows are used.
 * @param nodeOf looks up the labels of a Node, for `spec.capacity`
 */
export function readingNeedOf({ spec }: Pick<TrafficWatch, 'spec'>, nodeOf: NodeLookup): ReadingNeed {
  const reading = areDevicesValid(spec) ? readingOf({ spec }, nodeOf) : DEFAULT_READING;
  const { unfit, fit } = passesOf(spec);
  const passes = [unfit, fit].filter((count) => Number.isInteger(count) && count <= MOST_PASSES);
  return { reading, key: readingKey(reading), passes: Math.max(LEAST_PASSES, ...passes) };
}

/**
 * Returns the cost of keeping the results: one for each pass. Every operator keeps two passes of the default reading, so these
 * cost nothing.
 */
export function costOf({ key, passes }: Pick<ReadingNeed, 'key' | 'passes'>): number {
  return key === DEFAULT_KEY ? passes - LEAST_PASSES : passes;
}
