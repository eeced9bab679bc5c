import { describe, expect, it } from 'vitest';
import { DEFAULT_READING, distinctReadings, readingKey } from './reading.ts';

const RECEIVE = readingKey({ direction: 'Receive' });

describe('distinctReadings', () => {
  it('has each reading once, and not the default one', () => {
    const readings = [DEFAULT_READING, { direction: 'Receive' as const }, { direction: 'Receive' as const }];
    expect([...distinctReadings(readings).keys()]).toEqual([RECEIVE]);
  });
});
