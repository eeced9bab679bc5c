import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../api/trafficwatch.ts';
import type { NodeVerdict } from './decide/verdict.ts';
import { createTrafficWatchMetrics } from './metrics.ts';

const verdicts = (of: Record<string, Verdict>): [nodes: { name: string }[], verdicts: NodeVerdict[]] => [
  Object.keys(of).map((name) => ({ name })),
  Object.values(of).map((verdict) => ({ verdict, reason: '', message: '', label: undefined })),
];

function metrics() {
  const registry = new Registry();
  const series = async (name = 'node_unfit'): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(`traffic_operator_${name}{`));
  return { series, shown: createTrafficWatchMetrics(registry) };
}

const line = (node: string, value: string, trafficwatch = 'web'): string =>
  `traffic_operator_node_unfit{namespace="shop",trafficwatch="${trafficwatch}",node="${node}"} ${value}`;

describe('traffic_operator_node_unfit', () => {
  it('is there for unfit and unknown nodes only', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Fit', n2: 'Unfit', n3: 'Unknown' }));
    expect(await series()).toEqual([line('n2', '1'), line('n3', 'Nan')]);
  });

  it('goes with the node that turns fit, or is gone', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Unfit', n2: 'Unfit', n3: 'Unknown' }));
    shown.record('shop/web', ...verdicts({ n1: 'Fit', n3: 'Unfit' }));
    expect(await series()).toEqual([line('n3', '1')]);
  });

  it('goes with its TrafficWatch and stays for the others', async () => {
    const { shown, series } = metrics();
    shown.record('shop/web', ...verdicts({ n1: 'Unfit' }));
    shown.record('shop/api', ...verdicts({ n1: 'Unfit' }));
    shown.forget('shop/web');
    expect(await series()).toEqual([line('n1', '1', 'api')]);
  });
});

describe('traffic_operator_trafficwatch_ready', () => {
  it('is 1 or 0, and goes with its TrafficWatch', async () => {
    const { shown, series } = metrics();
    shown.ready('shop/web', true);
    shown.ready('shop/api', false);
    const of = (name: string, value: number): string =>
      `traffic_operator_trafficwatch_ready{namespace="shop",trafficwatch="${name}"} ${value}`;
    expect(await series('trafficwatch_ready')).toEqual([of('web', 1), of('api', 0)]);
    shown.forget('shop/web');
    expect(await series('trafficwatch_ready')).toEqual([of('api', 0)]);
  });
});
