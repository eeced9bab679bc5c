import { describe, expect, it } from 'vitest';
import { fallMatters, sortLate } from './lateSamples.ts';
import { SeriesDecoder } from './seriesDecoder.ts';

const MB = 1e6;

describe('a device with several values', () => {
  it.each<{ values: readonly string[]; isLate: boolean; isSingle: boolean }>([
    { values: ['1', '-1'], isLate: false, isSingle: true },
    { values: ['1700000000', '-1'], isLate: true, isSingle: false },
    { values: ['1700000000', '1', '-2'], isLate: true, isSingle: false },
  ])('has each meaning of $values, in any order', ({ values, isLate, isSingle }) => {
    for (const each of [values, values.toReversed()]) {
      const decoder = new SeriesDecoder({ resolve: (node) => node }, 'newest');
      for (const text of each) decoder.visit({ metric: { node: 'a', device: 'eth0' }, value: [1, text] });
      const { nodes, single, fell } = sortLate(decoder.nodes);
      expect([nodes.has('a'), single.has('a'), fell.has('a')]).toEqual([isLate, isSingle, true]);
    }
  });
});

describe('a counter that fell', () => {
  it.each<{ why: string; counts: readonly number[]; matters: boolean }>([
    { why: 'the node was restarted', counts: [300_000, 300_100, 0, 100], matters: true },
    { why: 'the same, with a small counter', counts: [10, 60, 5, 55], matters: true },
    { why: 'it counted almost as far again', counts: [10, 60, 59.99, 110], matters: true },
    {
      why: 'the device was created again with another counter',
      counts: [300_000, 300_100, 50_000, 50_100],
      matters: true,
    },
    { why: 'one sample is 0', counts: [300_000, 300_100, 0, 300_300], matters: true },
    {
      why: 'it lost what is sent in one scrape interval, and a little more',
      counts: [300_000, 300_100, 300_099, 300_200],
      matters: true,
    },
    { why: 'the first sample is after the fall', counts: [0.1, 100, 200, 300], matters: false },
    { why: 'the first sample is an inserted 0', counts: [0, 300_000, 300_100], matters: true },
    { why: 'the same, of a counter that has just begun', counts: [0, 100, 200], matters: true },
    { why: 'the first sample is 0, and the device hardly sends', counts: [0, 0.06, 100, 200], matters: false },
    { why: 'it stepped back by some bytes', counts: [300_000, 300_100, 300_099.99, 300_300], matters: false },
    { why: 'it did so often', counts: [300_000, 299_999.96, 300_200, 300_199.96, 300_300], matters: true },
    {
      why: 'it is idle, and steps back by some bytes again and again',
      counts: [5_000, 4_999.9999, 5_000.00005, 4_999.99995, 5_000.0001],
      matters: false,
    },
    { why: 'the device is idle', counts: [0.06, 0.05, 0.06], matters: false },
    { why: 'the device is not quite idle', counts: [0.07, 0, 0.07], matters: true },
    { why: 'one sample', counts: [300_000], matters: false },
    { why: 'no sample', counts: [], matters: false },
  ])('has a wrong slope: $matters: $why', ({ counts, matters }) => {
    const samples = counts.map((count, index) => [5 * index, count * MB] as const);
    expect(fallMatters(samples, -1)).toBe(matters);
  });

  it.each([
    [-1, true],
    [0, false],
  ])(
    'counts as one while its first sample, an inserted 0, is in the window, which begins at second %d: %s',
    (windowStart, matters) => {
      const samples = [0, 300_000, 300_100].map((count, index) => [5 * index, count * MB] as const);
      expect(fallMatters(samples, windowStart)).toBe(matters);
    },
  );

  it.each([
    [9, true],
    [10, false],
  ])('counts until the sample after it has left the window, which begins at second %d: %s', (windowStart, matters) => {
    const counts = [300_000, 300_100, 0, 300_300, 300_400];
    const samples = counts.map((count, index) => [5 * index, count * MB] as const);
    expect(fallMatters(samples, windowStart)).toBe(matters);
  });
});
