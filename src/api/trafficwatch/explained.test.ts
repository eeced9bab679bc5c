import { describe, expect, it } from 'vitest';
import { openApiSchema } from '../crd.ts';
import { trafficWatchSchema } from './schema.ts';

const DURATION = 'a duration from "1s" to "24h", such as "90s"';
const COUNT = 'a number, or a share of the nodes';
/** Texts that the description of a field must contain: its unit and its default. */
const EXPLAINED: readonly [field: string, ...texts: string[]][] = [
  ['maxBandwidthPercent', "in percent of a node's bandwidth"],
  ['recoverBandwidthPercent', 'in percent', 'Default: 80 % of maxBandwidthPercent'],
  ['passes', '10 s by default'],
  ['passes.unfit', 'Number of passes', 'Default: 2'],
  ['passes.fit', 'Number of passes', 'Default: 2'],
  ['minHold', DURATION, 'Default: none'],
  ['missingData.policy', 'Hold (the default)'],
  ['missingData.holdFor', DURATION, 'Default: 5m'],
  ['direction', 'Transmit (the default)', 'in percent of the capacity'],
  ['measure', 'Sum (the default)', 'in percent of the sum of their speeds'],
  ['devices', 'By default all'],
  ['devices.include', 'By default all'],
  ['devices.exclude', 'Default: none'],
  ['capacity', 'Default: none'],
  ['capacity.value', 'bits per second', 'bit, kbit, Mbit, Gbit, Tbit'],
  ['capacity.nodeSelector', 'Absent or empty: every node'],
  ['mode', 'Enforce (the default)'],
  ['maxUnfit', COUNT, 'Default: none'],
  ['minFit', COUNT, 'Default: none'],
  ['breakerCooldown', DURATION, 'Default: it closes at once'],
  ['nodeSelector', 'Absent or empty: all nodes'],
  ['label', 'absent, the name of this object is used'],
  ['placement', 'Required (the default with deployment)', 'Preferred (the default with targetRef and podSelector)'],
];

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const SPEC = (openApiSchema(trafficWatchSchema, {}) as Schema).properties?.spec;

/** @param path such as `passes.unfit`; the items of a list are left out of it */
function schemaOf(path: string): Schema | undefined {
  return path.split('.').reduce<Schema | undefined>((at, field) => (at?.items ?? at)?.properties?.[field], SPEC);
}

describe('the descriptions that `kubectl explain` prints give unit and default', () => {
  it.each(EXPLAINED)('%s', (field, ...texts) => {
    const { description = '', items } = schemaOf(field) ?? {};
    for (const each of texts) expect(`${description} ${items?.description}`).toContain(each);
  });

  it('of every field but the workload', () => {
    const fields = Object.keys(SPEC?.properties ?? {});
    const explained = EXPLAINED.map(([field]) => field.split('.')[0]);
    expect(new Set([...explained, 'deployment', 'targetRef', 'podSelector'])).toEqual(new Set(fields));
  });
});
