import { describe, expect, it } from 'vitest';
import { usage } from '../../testing/observations.ts';
import { figureText, percentText } from './events.ts';

describe('percentText', () => {
  it.each([
    [95.60602856761446, 60, '95.6 %'],
    [9.560602856761446, 20, '9.6 %'],
    [150, 100, '150 %'],
    [60, 60, '60 %'],
    [60.004, 60, '60.004 %'],
    [59.96, 60, '59.96 %'],
    [60.00000001, 60, '60.00000001 %'],
    [0.0037301333333333332, 20, 'less than 0.1 %'],
    [1.06976e-4, 0.0015, '0.0001 %'],
    [0, 20, '0 %'],
  ])('writes %d with the threshold %d as %s', (percent, threshold, text) => {
    expect(percentText(percent, threshold)).toBe(text);
  });
});

describe('figureText', () => {
  it.each([
    [usage('n1', 95.60602856761446, { capacityBytesPerSecond: 12.5e6 }), '95.6 % of 100 Mbit/s'],
    [usage('n1', 95.6, { capacityBytesPerSecond: 3.125e9 }), '95.6 % of 25 Gbit/s'],
    [usage('n1', 95.6), '95.6 %'],
    [usage('n1', undefined, { capacityBytesPerSecond: 12.5e6 }), ''],
    [undefined, ''],
  ])('names percent and capacity: %#', (of, text) => {
    expect(figureText(of, 20)).toBe(text);
  });
});
