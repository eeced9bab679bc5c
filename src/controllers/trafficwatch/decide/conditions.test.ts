import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../usage/snapshot.ts';
import { anObservation, NOW, pass, usage } from '../testing/observations.ts';
import { settled, statusOf } from '../testing/settled.ts';

const HEALTHY = { n1: 50, n2: 1 };

/** The condition of a type after a pass that differs from a healthy one. */
function conditionOf(type: string, changes: Partial<Snapshot>, percents: Record<string, number | undefined> = HEALTHY) {
  const current = pass(3, percents, changes);
  const status = statusOf({ ...settled(anObservation()), current, now: NOW + 300_000 });
  return status.conditions?.find((c) => c.type === type);
}

describe('PrometheusReachable', () => {
  it.each([
    [0, 'the last pass had an answer'],
    [59, 'the last pass had an answer'],
    [300.4, "the last pass had an answer; its clock is about 5 min ahead of the operator's, which decides nothing"],
    [-3600, "the last pass had an answer; its clock is about 60 min behind the operator's, which decides nothing"],
  ])('says of a clock that is %d s ahead: %s', (seconds, message) => {
    const reachable = conditionOf('PrometheusReachable', { timeSeconds: NOW / 1000 + seconds });
    expect(reachable).toMatchObject({ status: 'True', reason: 'PrometheusAnswers', message });
  });
});

describe('MetricsAvailable', () => {
  it('repeats what Prometheus warns of', () => {
    const message = 'Prometheus warns: store-2 did not answer';
    expect(conditionOf('MetricsAvailable', { warnings: ['store-2 did not answer'] })).toMatchObject({
      status: 'False',
      reason: 'PartialData',
      message,
    });
  });

  it('names the nodes that are missing and the warning that goes with it', () => {
    const available = conditionOf(
      'MetricsAvailable',
      { warnings: ['store-2 did not answer'] },
      { n1: 50, n2: undefined },
    );
    expect(available?.message).toBe('no usable figures for n2 (NoSeries); Prometheus warns: store-2 did not answer');
  });

  it('names a node whose capacity fell, whatever its verdict, and is true all the same', () => {
    const fall = { fromBytesPerSecond: 2.5e9, devices: ['bond0'] };
    const nodes = new Map(Object.entries(HEALTHY).map(([node, percent]) => [node, usage(node, percent)]));
    nodes.set('n2', usage('n2', 1, { capacityBytesPerSecond: 1.25e9, fall }));
    expect(conditionOf('MetricsAvailable', { nodes })).toMatchObject({
      status: 'True',
      reason: 'AllMeasured',
      message: 'every node has figures; n2: capacity fell from 20Gbit to 10Gbit (bond0)',
    });
  });

  it('names series that belong to no node', () => {
    const stray = { unmatchedSeries: 1, unmatchedExamples: ['{node="gone"}'] };
    expect(conditionOf('MetricsAvailable', stray)?.message).toBe(
      'every node has figures; series that belong to no node, or to several: {node="gone"}',
    );
  });
});
