import { expect, it } from 'vitest';
import { FakePrometheus } from '../../../src/prometheus/testing/fakePrometheus.ts';
import { QUERY } from '../../../src/usage/pass/testing/passScene.ts';
import { Passes, withoutLate } from './passes.ts';

const nodes = new Map([['a', {}]]);
const device = { node: 'a', instance: 'a:9100', device: 'eth0', rate: '5', total: '70', speed: '100' };

it.each([
  { what: 'with', wrap: (client: FakePrometheus) => client, late: 2 },
  { what: 'without', wrap: (client: FakePrometheus) => withoutLate(client, QUERY), late: 0 },
])('sends in two passes $late queries for late samples $what it, and all others', async ({ wrap, late }) => {
  const prometheus = new FakePrometheus();
  prometheus.devices = [device];
  const passes = new Passes({ client: wrap(prometheus), query: QUERY, nodes });
  expect(await passes.run(2, 0)).toHaveLength(2);
  expect([prometheus.count('late'), prometheus.count('rates')]).toEqual([late, 2]);
  expect(passes.queries.get('rates')).toHaveLength(2);
});

it('fails if a node has no percent', async () => {
  const passes = new Passes({ client: new FakePrometheus(), query: QUERY, nodes });
  await expect(passes.run(1, 0)).rejects.toThrow('a: NoSeries');
});
