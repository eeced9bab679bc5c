import { describe, expect, it } from 'vitest';
import { SeriesDecoder } from '../series/seriesDecoder.ts';
import { describeDuplicate } from './duplicateSeries.ts';
import { nodeUsage } from './percent.ts';

const duplicate = 'eth0, {replica="b"}';

describe('describeDuplicate', () => {
  it('is undefined without a duplicate', () => {
    expect(describeDuplicate({ duplicate: undefined, differing: [] })).toBeUndefined();
  });

  it('names the label in which the series differ, and the flag to set', () => {
    expect(describeDuplicate({ duplicate, differing: ['replica'] })).toBe(
      'several series of one device: eth0, {replica="b"}; they differ in the label replica: if they are replicas, ' +
        'set --prometheus-replica-label=replica (chart: prometheus.replicaLabels); otherwise a matcher can tell them apart',
    );
  });

  it('is the message of the node, which has no percent', () => {
    const rates = new SeriesDecoder({ resolve: (node) => node }, 'rate');
    for (const replica of ['x', 'y']) {
      const metric = { node: 'a', instance: 'a:9100', device: 'eth0', replica };
      rates.visit({ metric, value: [1, '1'] }, { labels: metric });
    }
    const samples = rates.nodes.get('a')!;
    const usage = nodeUsage({ node: 'a', facts: undefined, rates: samples, capacity: undefined, timeSeconds: 1 });
    expect(usage).toMatchObject({ reason: 'AmbiguousSeries', message: describeDuplicate(samples) });
    expect(usage.message).toContain('--prometheus-replica-label=replica');
    expect(usage.percent).toBeUndefined();
  });

  it('names each of several labels', () => {
    const message = describeDuplicate({ duplicate, differing: ['prometheus', 'replica'] });
    expect(message).toContain('the labels prometheus, replica: ');
    expect(message).toContain('set --prometheus-replica-label=prometheus --prometheus-replica-label=replica (');
  });

  it.each([
    ['unknown labels', []],
    ['labels that identify a device', ['node', 'instance']],
  ])('suggests only a matcher for %s', (_what, differing) => {
    expect(describeDuplicate({ duplicate, differing })).toBe(
      'several series of one device: eth0, {replica="b"}; a matcher can tell them apart',
    );
  });
});
