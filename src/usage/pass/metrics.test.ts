import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createUsageMetrics } from './metrics.ts';
import type { CapacitySource, NodeUsage } from '../evaluate/percent.ts';
import type { Snapshot } from '../evaluate/snapshot.ts';

const node = (name: string, percent?: number): [string, NodeUsage] => [
  name,
  { node: name, ...(percent === undefined ? {} : { percent }), devices: [], timeSeconds: 0, reason: 'Measured' },
];

const snapshot = (nodes: [string, NodeUsage][], changes: Partial<Snapshot> = {}): Snapshot => ({
  pass: 1,
  startedAt: 0,
  ok: true,
  warnings: [],
  nodes: new Map(nodes),
  unmatchedSeries: 0,
  ambiguousSeries: 0,
  unmatchedExamples: [],
  ambiguousExamples: [],
  ...changes,
});

describe('createUsageMetrics', () => {
  it('shows the ratio of measured nodes only, and drops it if the next pass has none', async () => {
    const registry = new Registry();
    const metrics = createUsageMetrics(registry);
    metrics.passEnded(snapshot([node('n1', 50), node('n2')]), 0.1);
    const first = await registry.metrics();
    expect(first).toContain('traffic_operator_node_bandwidth_ratio{node="n1"} 0.5');
    expect(first).not.toContain('node="n2"');
    metrics.passEnded(snapshot([], { ok: false, error: { reason: 'Unreachable', message: '' } }), 0.1);
    const second = await registry.metrics();
    expect(second).not.toContain('node="n1"');
    expect(second).toContain('traffic_operator_passes_total{result="Unreachable"} 1');
  });

  it('counts the measured nodes by the source of their capacity, and nothing after a failed pass', async () => {
    const registry = new Registry();
    const metrics = createUsageMetrics(registry);
    const of = (name: string, capacitySource?: CapacitySource): [string, NodeUsage] => {
      const [, usage] = node(name, 1);
      return [name, { ...usage, ...(capacitySource && { capacitySource }) }];
    };
    metrics.passEnded(
      snapshot([of('n1', 'Label'), of('n2', 'Label'), of('n3', 'Series'), of('n4'), of('n5', 'ActiveSlaves')]),
      0.1,
    );
    const first = await registry.metrics();
    for (const [source, count] of Object.entries({ Annotation: 0, Label: 2, ActiveSlaves: 1, Series: 1 })) {
      expect(first).toContain(`traffic_operator_capacity_source_nodes{source="${source}"} ${count}\n`);
    }
    metrics.passEnded(snapshot([], { ok: false, error: { reason: 'Unreachable', message: '' } }), 0.1);
    expect(await registry.metrics()).not.toContain('traffic_operator_capacity_source_nodes{');
  });

  it('shows how late samples are, and nothing while that is not known', async () => {
    const registry = new Registry();
    const metrics = createUsageMetrics(registry);
    const LAG = /^traffic_operator_(?:sample_lag_seconds|late_nodes) (.*)$/m;
    expect(await registry.metrics()).not.toMatch(LAG);
    metrics.passEnded(snapshot([], { lagSeconds: 47.5, lateNodes: new Set(['a']) }), 0.1);
    expect(await registry.metrics()).toMatch(/^traffic_operator_sample_lag_seconds 47.5$/m);
    expect(await registry.metrics()).toMatch(/^traffic_operator_late_nodes 1$/m);
    metrics.passEnded(snapshot([], { ok: false, error: { reason: 'Unreachable', message: '' } }), 0.1);
    expect(await registry.metrics()).not.toMatch(LAG);
  });

  it('shows how many series match no node or several nodes, and nothing after a failed pass', async () => {
    const registry = new Registry();
    const metrics = createUsageMetrics(registry);
    metrics.passEnded(snapshot([], { unmatchedSeries: 12, ambiguousSeries: 3 }), 0.1);
    const first = await registry.metrics();
    expect(first).toContain('traffic_operator_stray_series{nodes="none"} 12\n');
    expect(first).toContain('traffic_operator_stray_series{nodes="several"} 3\n');
    metrics.passEnded(snapshot([], { ok: false, error: { reason: 'Unreachable', message: '' } }), 0.1);
    expect(await registry.metrics()).not.toContain('traffic_operator_stray_series{');
  });
});
