import { describe, expect, it } from 'vitest';
import { readingKey } from '../../../usage/evaluate/reading.ts';
import { asRead, type Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { anObservation, aWatch, changed, failedPass, KEY, LABELLING, NOW, pass } from '../testing/observations.ts';
import { eventsOf, statusOf } from '../testing/settled.ts';
import type { Observation } from '../observe/observation.ts';
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

  it('lets nodes turn fit when it falls, also while the rate window fills after an outage', () => {
    const watch = aWatch();
    const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1 } };
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'true' } };
    const passes = [pass(2, { n1: 50, n2: 40 }), pass(1, { n1: 50, n2: 40 })];
    const o = anObservation({ watch: limited, nodes, passes, isWindowFilling: true });
    expect(changes(o)).toEqual({ n2: { [KEY]: 'false' } });
  });

  it('says how many of the unfit nodes are only above the threshold of the way back', () => {
    const watch = aWatch(LABELLING);
    const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1 } };
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
    const percents = { n1: 9, n2: 40 };
    const o = anObservation({ watch: limited, nodes, passes: [pass(2, percents), pass(1, percents)] });
    expect(breakerOf(o)?.message).toBe(
      '2 nodes exceed the threshold, at most 1 may be unfit (maxUnfit, minFit); 1 still accept pods' +
        '; 1 of the unfit nodes are only above recoverBandwidthPercent',
    );
    const full = { n1: 50, n2: 40 };
    const other = changed(o, { passes: [pass(2, full), pass(1, full)] });
    expect(breakerOf(other)?.message).not.toContain('recoverBandwidthPercent');
  });
});

describe('the breaker after a pass that says nothing about the number of nodes above the threshold', () => {
  const watch = aWatch();
  const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1 } };
  const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
  const both = { n1: 50, n2: 40 };
  const opened = anObservation({ watch: limited, nodes, passes: [pass(2, both), pass(1, both)] });
  const none = pass(3, { n1: undefined, n2: undefined });
  const unread = asRead(pass(3, both), readingKey({ direction: 'Receive' }));

  it.each<[string, Snapshot]>([
    ['it failed', failedPass(3)],
    ['it has a figure of no node', none],
    ['it did not evaluate the reading', unread],
  ])('is unchanged: %s', (_why, newest) => {
    const next = changed(later(opened, 1, both), { newest });
    expect(decidePlan(next).breaker).toBe('Unchanged');
    expect(breakerOf(next)).toEqual(breakerOf(opened));
  });

  it('stays open while the rate window fills after an outage', () => {
    const next = changed(later(opened, 1, both), { isWindowFilling: true });
    expect(breakerOf(next)).toMatchObject({ status: 'True', reason: 'TooManyUnfit' });
    expect(breakerOf(next)).toEqual(breakerOf(opened));
  });

  it('closes if no node is selected', () => {
    const selective = aWatch({ nodeSelector: { matchLabels: { zone: 'none' } } });
    const spec = { ...selective.spec, maxUnfit: 1 };
    const next = changed(later(opened, 1, both), { watch: { ...limited, spec, status: statusOf(opened) } });
    expect(decidePlan(next).breaker).toMatchObject({ above: 0, held: 0 });
  });
});

/** The observation some minutes later, with the status that the present one leads to, and these figures. */
function later(o: Observation, minutes: number, percents: Record<string, number>): Observation {
  const now = o.now + minutes * 60_000;
  const passes = [pass(2, percents, { timeSeconds: now / 1000 }), pass(1, percents, { timeSeconds: now / 1000 })];
  return changed(o, { watch: { ...o.watch, status: statusOf(o) }, passes, now });
}

const breakerOf = (o: Observation) => statusOf(o).conditions?.find(({ type }) => type === 'BreakerOpen');

describe('breakerCooldown', () => {
  const watch = aWatch(LABELLING);
  const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1, breakerCooldown: '5m' } };
  const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
  const both = { n1: 50, n2: 40 };
  const one = { n1: 1, n2: 40 };
  const opened = anObservation({ watch: limited, nodes, passes: [pass(2, both), pass(1, both)] });
  const cooling = later(opened, 1, { n1: 50, n2: 1 });

  it('is in the status, so that a restart goes on with it', () => {
    expect(breakerOf(opened)).toMatchObject({ status: 'True', reason: 'TooManyUnfit' });
    expect(breakerOf(cooling)).toMatchObject({
      status: 'True',
      reason: 'CoolingDown',
      message:
        'the nodes above the threshold are within the limit of 1 (maxUnfit, minFit); no further node becomes unfit until 2026-01-01T00:16:00Z, when breakerCooldown ends',
    });
    expect(statusOf(cooling).breakerCoolingSince).toBe('2026-01-01T00:11:00Z');
    const next = later(cooling, 4, { n1: 50, n2: 1 });
    expect(breakerOf(next)).toEqual(breakerOf(cooling));
    const closed = later(next, 1, { n1: 50, n2: 1 });
    expect(breakerOf(closed)).toMatchObject({ status: 'False', reason: 'WithinLimit' });
    expect(statusOf(closed)).not.toHaveProperty('breakerCoolingSince');
  });

  it('is one event at its begin and one at its end', () => {
    const reasons = [opened, cooling, later(cooling, 1, both), later(cooling, 5, { n1: 50, n2: 1 })].map((o) =>
      eventsOf(o).flatMap(({ reason, note }) => (note.startsWith('BreakerOpen') ? [reason] : [])),
    );
    expect(reasons).toEqual([['TooManyUnfit'], [], [], ['WithinLimit']]);
  });

  it('keeps a free place free', () => {
    const free = changed(later(opened, 1, one), {
      nodes: [
        { name: 'n1', labels: { [KEY]: 'false' }, createdAt: 0 },
        { name: 'n2', labels: { [KEY]: 'false' }, createdAt: 0 },
      ],
    });
    expect(changes(free)).toEqual({});
    expect(changes(later(free, 6, one))).toEqual({ n2: { [KEY]: 'true' } });
  });

  it('does not count while passes fail, and begins again after them', () => {
    const failed = changed(later(cooling, 1, both), { newest: { ...failedPass(3), startedAt: NOW } });
    expect(decidePlan(failed).breaker).toBe('Unchanged');
    expect(breakerOf(failed)).toEqual(breakerOf(cooling));
    const again = later(failed, 10, { n1: 50, n2: 1 });
    expect(breakerOf(again)).toMatchObject({ status: 'True', reason: 'CoolingDown' });
    expect(statusOf(again).breakerCoolingSince).toBe('2026-01-01T00:22:00Z');
  });
});

describe('the message of BreakerOpen in a large cluster', () => {
  const watch = aWatch({ maxBandwidthPercent: '10' });
  const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1 } };
  const figures = (full: number) =>
    Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`n${n}`, n < full ? 50 : 1]));
  const nodes = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`n${n}`, { [KEY]: String(n === 0) }]));
  const open = anObservation({ watch: limited, nodes, passes: [pass(2, figures(5)), pass(1, figures(5))] });

  it('keeps its counts until the figures of the minute are written', () => {
    expect(breakerOf(open)?.message).toContain('5 nodes exceed the threshold');
    expect(breakerOf(later(open, 0, figures(6)))?.message).toContain('5 nodes exceed the threshold');
    expect(breakerOf(later(open, 1, figures(6)))?.message).toContain('6 nodes exceed the threshold');
  });

  it('has another status at once', () => {
    expect(breakerOf(later(open, 0, figures(1)))).toMatchObject({ status: 'False', reason: 'WithinLimit' });
  });
});
