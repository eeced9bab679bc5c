import { describe, expect, it } from 'vitest';
import { DEFAULT_KEY, DEFAULT_READING, distinctReadings, readingKey } from './reading.ts';

const RECEIVE = readingKey({ direction: 'Receive' });

describe('distinctReadings', () => {
  it('has each reading once, and not the default one', () => {
    const readings = [DEFAULT_READING, { direction: 'Receive' as const }, { direction: 'Receive' as const }];
    expect([...distinctReadings(readings).keys()]).toEqual([RECEIVE]);
  });
});

describe('readingKey', () => {
  it('is the same for a field with its default and for none', () => {
    expect(readingKey({ direction: 'Transmit', measure: 'Sum' })).toBe(DEFAULT_KEY);
    expect(readingKey({ direction: 'Transmit', measure: 'Fullest' })).not.toBe(DEFAULT_KEY);
    expect(distinctReadings([{ direction: 'Transmit', measure: 'Sum' }]).size).toBe(0);
  });

  it('differs with each pattern, and between both', () => {
    const keys = [{}, { include: 'a' }, { exclude: 'a' }, { include: 'a', exclude: 'a' }, { include: 'a","a' }].map(
      (patterns) => readingKey({ direction: 'Transmit', ...patterns }),
    );
    expect(new Set(keys).size).toBe(keys.length);
  });
});
