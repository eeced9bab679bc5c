import { describe, expect, it } from 'vitest';
import { capacityOf, capacitySchema } from './capacity.ts';

const BIG = { nodeSelector: { matchLabels: { pool: 'big' } }, value: '25Gbit' };
const messagesOf = (capacity: unknown): string =>
  (capacitySchema.safeParse(capacity).error?.issues ?? [])
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join();

describe('capacitySchema', () => {
  it.each<[why: string, capacity: unknown]>([
    ['an entry without a selector matches every node', [{ value: '10Gbit' }]],
    ['an empty selector as well', [{ nodeSelector: {}, value: '2.5gbit/s' }]],
    [
      'the last entry may match every node',
      [BIG, { nodeSelector: { matchLabels: {}, matchExpressions: [] }, value: '800 Mbit' }],
    ],
    ['sixteen entries', Array.from({ length: 16 }, () => BIG)],
    ['none', []],
  ])('accepts it: %s', (_why, capacity) => {
    expect(messagesOf(capacity)).toBe('');
  });

  it.each<[why: string, capacity: unknown, message: RegExp]>([
    ['no unit', [{ value: '10' }], /0\.value: must be a decimal number above 0 with one of the units bit, kbit/],
    ['bytes or bits is not clear', [{ value: '10Gbps' }], /0\.value: must be a decimal number/],
    ['zero', [{ value: '0Gbit' }], /0\.value: must be a decimal number above 0/],
    ['zero with decimals', [{ value: '0.00Gbit' }], /above 0/],
    ['negative', [{ value: '-1Gbit' }], /above 0/],
    ['empty', [{ value: '' }], /above 0/],
    ['too long to be a number', [{ value: `${'9'.repeat(30)}Gbit` }], /at most 32 characters/],
    ['no value', [{ nodeSelector: {} }], /0\.value/],
    [
      'a key that the verdicts write',
      [{ nodeSelector: { matchLabels: { 'web.traffic.example.com/unfit': 'true' } }, value: '1Gbit' }],
      /the verdicts would decide the capacity/,
    ],
    ['an entry that no node reaches', [{ value: '10Gbit' }, BIG], /must be the last: it matches every node/],
    ['the same with an empty selector', [BIG, { nodeSelector: {}, value: '1Gbit' }, BIG], /must be the last/],
    ['too many entries', Array.from({ length: 17 }, () => BIG), /must have at most 16 entries/],
    [
      'too many values',
      [
        {
          nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: Array(65).fill('b') }] },
          value: '1Gbit',
        },
      ],
      /values/,
    ],
  ])('rejects it: %s', (_why, capacity, message) => {
    expect(messagesOf(capacity)).toMatch(message);
  });
});

describe('capacityOf', () => {
  it('is undefined without entries, and with invalid entries that another CRD let through', () => {
    for (const capacity of [undefined, [], [{ value: 'fast' }], null, {}])
      expect(capacityOf({ capacity })).toBeUndefined();
    expect([capacityOf(undefined), capacityOf(null)]).toEqual([undefined, undefined]);
    expect(capacityOf({ capacity: [BIG] })).toEqual([BIG]);
  });
});
