import { expect, it } from 'vitest';
import type { InstantQuery } from './prometheusClient.ts';
import { askLabelsOf, askValuesOf } from './askValues.ts';

const { signal } = new AbortController();
const clientWith = (series: readonly unknown[], warnings: readonly string[] = []) => ({
  query: ({ visitor }: InstantQuery) => {
    for (const one of series) visitor.visit(one);
    return Promise.resolve({ series: series.length, warnings, infos: [] });
  },
});
const answering = (...args: Parameters<typeof clientWith>) => askValuesOf(clientWith(...args));

it('gives the value of each series, and NaN for one without a sample', async () => {
  const series = [{ metric: {}, value: [1, '0.5'] }, { metric: {}, histogram: [1, {}] }, { value: [1, ''] }, null];
  expect(await answering(series)('q', signal)).toEqual([0.5, NaN, NaN, NaN]);
  expect(await answering([])('q', signal)).toEqual([]);
});

it('fails with a warning of the server: series may be missing', async () => {
  const ask = answering([{ metric: {}, value: [1, '0.5'] }], ['store-1 did not answer']);
  await expect(ask('q', signal)).rejects.toThrow('Prometheus warns: store-1 did not answer');
});

it('gives the labels of each series', async () => {
  const series = [{ metric: { __name__: 'up', job: 'a' }, value: [1, '1'] }, { value: [1, '1'] }, null];
  expect(await askLabelsOf(clientWith(series))('q', signal)).toEqual([{ __name__: 'up', job: 'a' }, {}, {}]);
});
