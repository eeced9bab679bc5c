import { describe, expect, it } from 'vitest';
import { anObservation, aWatch, failedPass, KEY, pass } from '../testing/observations.ts';
import { decidePlan } from './decidePlan.ts';

const changes = (o: Parameters<typeof decidePlan>[0]) => Object.fromEntries(decidePlan(o).labels);

describe('the limit for unfit nodes', () => {
  it('counts the nodes that are there and can be measured: one that is gone is not taken off twice', () => {
    const watch = aWatch();
    const limited = { ...watch, spec: { ...watch.spec, minFit: 1 } };
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
    const off = { reason: 'NodeNotReady', message: 'off' } as const;
    const notMeasurable = new Map(['gone1', 'gone2'].map((name) => [name, off]));
    const passes = [pass(2, { n1: 50, n2: 2 }), pass(1, { n1: 50, n2: 2 })];
    const plan = decidePlan(anObservation({ watch: limited, nodes, notMeasurable, passes }));
    expect([plan.breaker, plan.labels.size]).toEqual([{ above: 1, limit: 1, held: 0 }, 0]);
  });

  it('changes no label while Prometheus is down', () => {
    const watch = aWatch();
    const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1 } };
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'true' } };
    expect(changes(anObservation({ watch: limited, nodes, newest: failedPass(2) }))).toEqual({});
    expect(changes(anObservation({ watch: limited, nodes, passes: [] }))).toEqual({});
  });
});
