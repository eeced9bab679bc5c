import { describe, expect, it } from 'vitest';
import { readingKey } from '../../../../usage/evaluate/reading.ts';
import { asRead } from '../../../../usage/evaluate/snapshot.ts';
import { anObservation, changed, KEY, pass } from '../../testing/observations.ts';
import { settled, statusOf } from '../../testing/settled.ts';
import { decideEvents } from './events.ts';
import { decidePlan } from '../decidePlan.ts';

describe('a pass that did not evaluate the reading of the TrafficWatch', () => {
  const figures = { n1: 50, n2: 1 };
  const newest = asRead(pass(3, figures), readingKey({ direction: 'Receive' }));
  const before = settled(
    anObservation({
      nodes: { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } },
      passes: [pass(2, figures), pass(1, figures)],
    }),
  );
  const o = changed(before, { newest });

  it('gives no figure, and labels stay', () => {
    const status = statusOf(o);
    expect(status.nodes).toMatchObject({
      n1: { currentBandwidthPercent: '', verdict: 'Unknown', reason: 'NotEvaluated', unfit: true },
      n2: { currentBandwidthPercent: '', verdict: 'Unknown', reason: 'NotEvaluated', unfit: false },
    });
    expect(decidePlan(o).labels.size).toBe(0);
  });

  it('is no outage: MetricsAvailable is Unknown, and there is no event', () => {
    const after = statusOf(o);
    expect(after.conditions?.find(({ type }) => type === 'MetricsAvailable')).toMatchObject({
      status: 'Unknown',
      reason: 'NotAskedYet',
    });
    expect(decideEvents({ o, plan: decidePlan(o), after, failures: [] })).toEqual([]);
    const hadNoTime = { nodes: new Map(), warnings: [], hadNoTime: true } as const;
    const late = asRead({ ...pass(3, figures), readings: new Map([['costly', hadNoTime]]) }, 'costly');
    expect(statusOf(changed(before, { newest: late })).conditions).toContainEqual(
      expect.objectContaining({ type: 'MetricsAvailable', status: 'Unknown', reason: 'NotEvaluated' }),
    );
    expect(statusOf(changed(o, { newest: pass(4, figures) })).conditions).toContainEqual(
      expect.objectContaining({ type: 'MetricsAvailable', status: 'True' }),
    );
  });
});
