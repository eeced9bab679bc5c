import { describe, expect, it } from 'vitest';
import {
  anObservation,
  aWatch,
  changed,
  failedPass,
  pass,
  usage,
  type WatchChanges,
} from '../../testing/observations.ts';
import { eventsOf, settled } from '../../testing/settled.ts';
import type { Observation } from '../../observe/observation.ts';
import { decidePlan } from '../decidePlan.ts';
import { decideStatus } from './status.ts';
import { decideEvents } from './events.ts';

describe('decideEvents', () => {
  const events = (o: Observation) => eventsOf(o).map((e) => `${e.type} ${e.reason}`);

  it('emits an event for each node that turns, and none while nothing changes', () => {
    const o = settled(anObservation());
    expect(events(o)).toEqual([]);
    const hot = changed(o, { passes: [pass(4, { n1: 50, n2: 1 }), pass(3, { n1: 50, n2: 1 })] });
    expect(events(hot)).toEqual(['Warning NodeUnfit']);
    const cool = settled(hot);
    expect(events(changed(cool, { passes: [pass(6, { n1: 1, n2: 1 }), pass(5, { n1: 1, n2: 1 })] }))).toEqual([
      'Normal NodeFit',
    ]);
  });

  it('emits one event when Prometheus fails and one when it recovers', () => {
    const o = settled(anObservation());
    const down = changed(o, { newest: failedPass(3) });
    expect(events(down)).toEqual(['Warning PrometheusUnreachable', 'Warning NoData']);
    const stillDown = settled(down);
    expect(events(stillDown)).toEqual([]);
    expect(events(changed(stillDown, { passes: [pass(5, { n1: 1, n2: 1 }), pass(4, { n1: 1, n2: 1 })] }))).toEqual([
      'Normal PrometheusAnswers',
      'Normal AllMeasured',
    ]);
  });

  it('emits one event for an outage whose reason changes from pass to pass; the condition has the newest reason', () => {
    const reasons = ['Unreachable', 'Deadline', 'Unreachable', 'BadStatus', 'Deadline'];
    let o = settled(anObservation());
    const told = reasons.flatMap((reason, i) => {
      o = changed(o, { passes: [failedPass(3 + i, reason), o.view.passes[0]!] });
      const now = events(o);
      o = settled(o);
      expect(o.watch.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'PrometheusReachable', status: 'False', reason: `Prometheus${reason}` }),
      );
      return now;
    });
    expect(told).toEqual(['Warning PrometheusUnreachable', 'Warning NoData']);
    const back = changed(o, { passes: [pass(9, { n1: 1, n2: 1 }), o.view.passes[0]!] });
    expect(events(back)).toContain('Normal PrometheusAnswers');
    const again = changed(settled(back), { newest: failedPass(10, 'Deadline') });
    expect(events(again)).toContain('Warning PrometheusDeadline');
  });

  it('emits one event for each different error in a spec', () => {
    let o = settled(anObservation());
    const stalls = [
      [2, 'replicas: -3'],
      [2, 'replicas: -3 (request 17)'],
      [3, 'replicas: -3 (request 17)'],
      [4, 'image: none'],
    ] as const;
    const told = stalls.flatMap(([generation, message]) => {
      o = changed(o, { watch: { ...o.watch, metadata: { ...o.watch.metadata, generation } } });
      const plan = { ...decidePlan(o), stall: { reason: 'DeploymentInvalid', message } as const };
      const after = decideStatus(o, plan, []);
      const now = decideEvents({ o, plan, after, failures: [] }).filter(({ note }) => note.startsWith('Stalled'));
      o = changed(o, { watch: { ...o.watch, status: after } });
      return now.map(({ type, note }) => `${type} ${note}`);
    });
    expect(told).toEqual(['Warning Stalled: replicas: -3', 'Warning Stalled: image: none']);
  });

  it('counts nodes instead of naming them if many turn in one pass', () => {
    const names = Array.from({ length: 11 }, (_, i) => `n${i}`);
    const percents = Object.fromEntries(names.map((n) => [n, 50]));
    const nodes = Object.fromEntries(names.map((n) => [n, {}]));
    const o = anObservation({ nodes, passes: [pass(2, percents), pass(1, percents)] });
    const told = eventsOf(o).map((e) => e.note);
    expect(told).toContain('11 nodes turned unfit: above 10 %');
    expect(told).toContain('every node is unfit: running pods are not moved, new pods find no node');
  });

  it('warns once a generation of a threshold that no node exceeds within its capacity', () => {
    const o = anObservation({ watch: aWatch({ maxBandwidthPercent: '100' }) });
    expect(events(o)).toContain('Warning ThresholdAtCapacity');
    expect(events(settled(o))).not.toContain('Warning ThresholdAtCapacity');
  });

  it('warns of a Sum of both directions from 200 on', () => {
    const at = (maxBandwidthPercent: string) => {
      const watch = aWatch({ maxBandwidthPercent });
      return events(anObservation({ watch: { ...watch, spec: { ...watch.spec, direction: 'Sum' } } }));
    };
    expect(at('199')).not.toContain('Warning ThresholdAtCapacity');
    expect(at('200')).toContain('Warning ThresholdAtCapacity');
  });

  it('reports a node that is measured at 150 % of its capacity as unfit, even with a threshold of 100', () => {
    const percents = { n1: 150, n2: 1 };
    const watch = aWatch({ maxBandwidthPercent: '100' });
    const told = eventsOf(anObservation({ watch, passes: [pass(2, percents), pass(1, percents)] }));
    expect(told.filter((e) => e.reason === 'NodeUnfit').map((e) => e.note)).toEqual([
      'node n1 turned unfit: 150 % (threshold 100 %)',
    ]);
    expect(told.find((e) => e.reason === 'ThresholdAtCapacity')?.note).toBe(
      'maxBandwidthPercent is 100: a node whose traffic is within its capacity will never be unfit, only a node that is measured above its capacity',
    );
  });

  it.each<[WatchChanges, number, string]>([
    [{}, 12.5, 'node n1 turned unfit: 12.5 % of 100 Mbit/s (threshold 10 %)'],
    [{}, 95.60602856761446, 'node n1 turned unfit: 95.6 % of 100 Mbit/s (threshold 10 %)'],
    [{ maxBandwidthPercent: '1.5e+01' }, 15.01, 'node n1 turned unfit: 15.01 % of 100 Mbit/s (threshold 15 %)'],
    [{ mode: 'Observe' }, 95.6, 'dry run: node n1 turned unfit: 95.6 % of 100 Mbit/s (threshold 10 %)'],
  ])('names the figure of the node that turned: %j, %d %%', (spec, percent, note) => {
    const nodes = new Map([
      ['n1', usage('n1', percent, { capacityBytesPerSecond: 12.5e6 })],
      ['n2', usage('n2', 1)],
    ]);
    const hot = pass(2, {}, { nodes });
    const told = eventsOf(anObservation({ watch: aWatch(spec), passes: [hot, hot] }));
    expect(told.find((e) => e.reason === 'NodeUnfit')?.note).toBe(note);
  });

  it('names both figures of a node that is fit again', () => {
    const nodes = (percent: number) =>
      new Map(['n1', 'n2'].map((name) => [name, usage(name, percent, { capacityBytesPerSecond: 1.25e9 })]));
    const full = pass(2, {}, { nodes: nodes(50) });
    const idle = pass(3, {}, { nodes: nodes(0.0037301333333333332) });
    const watch = aWatch({ recoverBandwidthPercent: '5' });
    const o = settled(anObservation({ watch, passes: [full, full] }));
    const told = eventsOf(changed(o, { passes: [idle, idle, idle] }));
    expect(told.filter((e) => e.reason === 'NodeFit').map((e) => e.note)).toEqual([
      'node n1 turned fit: less than 0.1 % of 10 Gbit/s (recovery threshold 5 %)',
      'node n2 turned fit: less than 0.1 % of 10 Gbit/s (recovery threshold 5 %)',
    ]);
  });
});
