import { describe, expect, it } from 'vitest';
import {
  anObservation,
  aWatch,
  changed,
  failedPass,
  pass,
  usage,
  aForeignWatch,
  aWorkload,
  NOW,
  type WatchChanges,
} from '../../testing/observations.ts';
import { eventsOf, settled } from '../../testing/settled.ts';
import type { ForeignWorkload, Observation, PolicyState } from '../../observe/observation.ts';
import { decidePlan } from '../decidePlan.ts';
import { decideStatus } from './status.ts';
import { decideEvents, figureText, percentText, decideRejections, type Rejection } from './events.ts';

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

const INSTALLED: PolicyState = { reason: 'PolicyInstalled', message: '' };
const MISSING: PolicyState = { reason: 'PolicyMissing', message: 'none' };
const WEBHOOK: PolicyState = { reason: 'WebhookInstalled', message: '' };
const NOT_READY: PolicyState = { reason: 'WebhookNotReady', message: 'none' };
const FULL = { n1: 50, n2: 50, other: 1 };

function noteOf(spec: WatchChanges, policy: PolicyState | undefined, isSelecting: boolean): string | undefined {
  const changes = isSelecting ? { ...spec, nodeSelector: { matchLabels: { pool: 'a' } } } : spec;
  const podSelector = { matchLabels: { app: 'web' } };
  const watch = policy === undefined ? aWatch(changes) : aForeignWatch({ podSelector }, changes);
  const workload = policy === undefined ? undefined : aWorkload(watch, podSelector, { policy });
  const selected = { n1: { pool: 'a' }, n2: { pool: 'a' } };
  const nodes = isSelecting ? { ...selected, other: {} } : selected;
  const passes = [pass(2, FULL), pass(1, FULL)];
  return eventsOf(anObservation({ watch, workload, nodes, passes })).find(({ reason }) => reason === 'AllNodesUnfit')
    ?.note;
}

const FREE = 'every node is unfit: running pods are not moved, new pods run on any node, since ';
const STRICT = 'every node is unfit: running pods are not moved, new pods find no node';
const PREFERS =
  'every node is unfit: running pods are not moved, new pods run on unfit nodes, since they only prefer fit ones';
const DRY = 'every node would be unfit: mode Observe writes no label, so pods run on any node';

describe('AllNodesUnfit', () => {
  it.each<[WatchChanges, PolicyState | undefined, string]>([
    [{}, undefined, STRICT],
    [{ placement: 'Required' }, undefined, STRICT],
    [{ placement: 'Preferred' }, undefined, PREFERS],
    [{ mode: 'Observe' }, undefined, DRY],
    [{ mode: 'Observe', placement: 'Preferred' }, INSTALLED, DRY],
    [{}, INSTALLED, PREFERS],
    [{ placement: 'Required' }, INSTALLED, STRICT],
    [{ placement: 'AtCreation' }, INSTALLED, STRICT],
    [{ placement: 'AtCreation' }, { ...INSTALLED, isOutdated: true }, PREFERS],
    [{ placement: 'Required' }, MISSING, `${FREE}neither an admission policy nor the webhook adds the node affinity`],
    [{ placement: 'Required' }, WEBHOOK, STRICT],
    [{ placement: 'Required' }, NOT_READY, `${FREE}the placement webhook cannot be called`],
  ])('says what pods do, with %j and the policy %j', (spec, policy, note) => {
    expect(noteOf(spec, policy, false)).toBe(note);
  });

  const TARGET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
  const UNKNOWN = { reason: 'TargetWithoutPods', message: 'no selector' } as const;
  const problem = { reason: 'Forbidden', message: 'refused', isRefused: true } as const;
  const entry = { trafficWatch: 'web', labelKey: 'k', placement: 'Required' as const, podSelector: {} };
  it.each<[string, Partial<ForeignWorkload>, string]>([
    ['the pods of the target are not known', { target: UNKNOWN }, `${FREE}no pods of StatefulSet web are known`],
    [
      'the PodPlacement is full',
      { placed: { entry: undefined, isOmitted: true } },
      `${FREE}the PodPlacement has no room for this TrafficWatch`,
    ],
    [
      'the PodPlacement cannot be written',
      { placed: { entry: undefined, problem } },
      `${FREE}the PodPlacement does not have this TrafficWatch`,
    ],
    ['the PodPlacement cannot be written, and has an earlier entry', { placed: { entry, problem } }, STRICT],
  ])('says that pods get no affinity only if they get none: %s', (_what, changes, note) => {
    const watch = aForeignWatch({ targetRef: TARGET }, { placement: 'Required' });
    const selector = { matchLabels: { app: 'web' } };
    const target = { selector };
    const workload = aWorkload(watch, selector, { target, ...changes });
    const passes = [pass(2, FULL), pass(1, FULL)];
    const told = eventsOf(anObservation({ watch, workload, nodes: { n1: {}, n2: {} }, passes }));
    expect(told.find(({ reason }) => reason === 'AllNodesUnfit')?.note).toBe(note);
  });

  it.each<[WatchChanges, string]>([
    [
      { placement: 'Preferred' },
      'every selected node is unfit: running pods are not moved, new pods prefer nodes that spec.nodeSelector leaves out, and may run on unfit nodes',
    ],
    [{ mode: 'Observe' }, 'every selected node would be unfit: mode Observe writes no label, so pods run on any node'],
  ])('names the nodes that a selector leaves out, with %j', (spec, note) => {
    expect(noteOf(spec, undefined, true)).toBe(note);
  });
});

describe('percentText', () => {
  it.each([
    [95.60602856761446, 60, '95.6 %'],
    [9.560602856761446, 20, '9.6 %'],
    [150, 100, '150 %'],
    [60, 60, '60 %'],
    [60.004, 60, '60.004 %'],
    [59.96, 60, '59.96 %'],
    [60.00000001, 60, '60.00000001 %'],
    [0.0037301333333333332, 20, 'less than 0.1 %'],
    [1.06976e-4, 0.0015, '0.0001 %'],
    [0, 20, '0 %'],
  ])('writes %d with the threshold %d as %s', (percent, threshold, text) => {
    expect(percentText(percent, threshold)).toBe(text);
  });
});

describe('figureText', () => {
  it.each([
    [usage('n1', 95.60602856761446, { capacityBytesPerSecond: 12.5e6 }), '95.6 % of 100 Mbit/s'],
    [usage('n1', 95.6, { capacityBytesPerSecond: 3.125e9 }), '95.6 % of 25 Gbit/s'],
    [usage('n1', 95.6), '95.6 %'],
    [usage('n1', undefined, { capacityBytesPerSecond: 12.5e6 }), ''],
    [undefined, ''],
  ])('names percent and capacity: %#', (of, text) => {
    expect(figureText(of, 20)).toBe(text);
  });
});

const rejection = (pod: string, changes: Partial<Rejection> = {}): Rejection => ({
  uid: `uid-${pod}`,
  pod,
  node: 'n1',
  failedAt: NOW - 1000,
  ...changes,
});
const decide = (rejections: readonly Rejection[], seen: readonly string[] = []) =>
  decideRejections({ rejections, seen: new Set(seen), unfitNodes: new Set(['n1', 'n2']), now: NOW });
const notes = (rejections: readonly Rejection[], seen?: readonly string[]) =>
  decide(rejections, seen).events.map(({ note }) => note);

describe('decideRejections', () => {
  it('says which pods the kubelet of which node rejected, why, and what to do', () => {
    expect(decide([rejection('web-b'), rejection('web-a'), rejection('web-c', { node: 'n2' })]).events).toEqual([
      {
        type: 'Warning',
        reason: 'PodsRejected',
        note:
          'the kubelet of node n1 restarted while the node was unfit and rejected 2 pods, whose required node affinity ' +
          'no longer matched: web-a, web-b; set spec.placement to Preferred, or move pods before maintenance ' +
          '(kubectl drain)',
      },
      expect.objectContaining({ note: expect.stringMatching(/node n2 .* rejected 1 pod, .*: web-c;/) as string }),
    ]);
  });

  it('names five pods and counts the others', () => {
    const many = Array.from({ length: 7 }, (_, n) => rejection(`web-${n}`));
    expect(notes(many).join()).toMatch(/rejected 7 pods, .*: web-0, web-1, web-2, web-3, web-4 and 2 more;/);
  });

  it('reports a pod once', () => {
    const { seen } = decide([rejection('web-a')]);
    expect(notes([rejection('web-a')], [...seen])).toEqual([]);
    expect(notes([rejection('web-a'), rejection('web-b')], [...seen]).join()).toMatch(/1 pod, .*: web-b;/);
  });

  it('forgets pods that are deleted', () => {
    expect(decide([rejection('web-b')], ['uid-web-a']).seen).toEqual(new Set(['uid-web-b']));
  });

  it('does not report a pod on a fit node, even if the node is unfit later: the affinity is the user’s own', () => {
    const fit = [rejection('web-a', { node: 'n3' })];
    const { events, seen } = decide(fit);
    expect(events).toEqual([]);
    expect(notes([rejection('web-a')], [...seen])).toEqual([]);
  });

  it('does not report old rejections, which an earlier process has reported', () => {
    expect(notes([rejection('web-a', { failedAt: NOW - 300_001 })])).toEqual([]);
    expect(notes([rejection('web-a', { failedAt: NOW - 299_999 })])).toHaveLength(1);
    expect(notes([rejection('web-a', { failedAt: undefined })])).toHaveLength(1);
  });
});
