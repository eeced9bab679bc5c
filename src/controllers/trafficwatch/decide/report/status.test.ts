import { describe, expect, it } from 'vitest';
import type { TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import type { Condition } from '../../../../runtime/controller/conditions.ts';
import type { Failure } from '../../../../runtime/process/problem.ts';
import { diffMergePatch } from '../../../../runtime/apply/mergePatch.ts';
import {
  aClaim,
  aDeployment,
  anObservation,
  aWatch,
  changed,
  failedPass,
  KEY,
  NOW,
  pass,
  usage,
  type ObservationChanges,
} from '../../testing/observations.ts';
import { decidePlan } from '../decidePlan.ts';
import { decideStatus, describeFullDevice } from './status.ts';
import { labelKeysOf } from '../../model/labelKeys.ts';
import { settled, statusOf } from '../../testing/settled.ts';

const condition = (s: TrafficWatchStatus, type: string) => s.conditions?.find((c) => c.type === type);

describe('decideStatus', () => {
  it('has verdicts, figures and counts in the shape of the CRD', () => {
    const o = anObservation({ passes: [pass(2, { n1: 50, n2: 0.000106976 }), pass(1, { n1: 60, n2: 0 })] });
    expect(statusOf(o)).toMatchObject({
      ready: true,
      observedGeneration: 1,
      labelKey: KEY,
      fitNodes: 1,
      unfitNodes: 1,
      unknownNodes: 0,
      nodes: {
        n1: {
          currentBandwidthPercent: '5e+01',
          currentTransmitTotal: 123456,
          time: NOW / 1000,
          unfit: true,
          verdict: 'Unfit',
          reason: 'AboveThreshold',
          since: '2026-01-01T00:10:00Z',
        },
        n2: { currentBandwidthPercent: '1.06976e-04', unfit: false, verdict: 'Fit' },
      },
    });
  });

  it('is equal for an unchanged state, so that nothing is written', () => {
    const o = settled(anObservation());
    expect(diffMergePatch(o.watch.status, statusOf(changed(o, { now: NOW + 10_000 })))).toBeUndefined();
    expect(decidePlan(o).labels.size).toBe(0);
  });

  it('is kept until the first pass after a restart: nothing is written', () => {
    const o = settled(anObservation());
    const restarted = changed(o, { now: NOW + 10_000, passes: [], feedStartedAt: NOW + 9_000 });
    expect(diffMergePatch(o.watch.status, statusOf(restarted))).toBeUndefined();
    const firstPass = changed(restarted, { passes: o.view.passes.slice(0, 1), now: NOW + 12_000 });
    expect(diffMergePatch(o.watch.status, statusOf(firstPass))).toBeUndefined();
  });

  it('moves `since` only when the verdict changes', () => {
    const o = settled(anObservation());
    const percents = { n1: 50, n2: 1 };
    const later = changed(o, { now: NOW + 60_000, passes: [pass(4, percents), pass(3, percents)] });
    const { nodes } = statusOf(later);
    expect([nodes?.n1?.since, nodes?.n2?.since]).toEqual(['2026-01-01T00:11:00Z', '2026-01-01T00:10:00Z']);
  });

  it('stays ready through an outage, and a node without a figure is Unknown with an empty percent', () => {
    const o = changed(settled(anObservation()), { newest: failedPass(3) });
    const status = statusOf(o);
    expect(status.ready).toBe(true);
    expect(status.nodes?.n1).toMatchObject({
      verdict: 'Unknown',
      currentBandwidthPercent: '',
      reason: 'PrometheusUnreachable',
      unfit: false,
    });
    expect(status.nodes?.n1).not.toHaveProperty('time');
    expect(condition(status, 'PrometheusReachable')).toMatchObject({
      status: 'False',
      reason: 'PrometheusUnreachable',
      message: 'connection refused',
    });
  });

  it('shows an unknown node as unfit if its label says so', () => {
    const o = anObservation({ nodes: { n1: { [KEY]: 'true' }, n2: {} }, newest: failedPass(2) });
    expect(statusOf(o).nodes).toMatchObject({ n1: { unfit: true, verdict: 'Unknown' }, n2: { unfit: false } });
  });

  it('is not ready before two passes, and stays ready when a node joins', () => {
    const recent = aWatch({ metadata: { creationTimestamp: new Date(NOW) } });
    const first = statusOf(anObservation({ watch: recent, passes: [pass(1, { n1: 1, n2: 2 })] }));
    expect([first.ready, condition(first, 'Ready')?.reason]).toEqual([false, 'Deciding']);
    const o = settled(anObservation());
    expect(statusOf(changed(o, { nodes: [...o.view.nodes, { name: 'n3', labels: {}, createdAt: 0 }] }))).toMatchObject({
      ready: true,
      unknownNodes: 1,
    });
  });

  it('is Unknown on the first visit', () => {
    const status = statusOf(anObservation({ passes: [], feedStartedAt: NOW }));
    expect(condition(status, 'Ready')?.status).toBe('Unknown');
  });

  it.each([
    ['Required', 'run on any node that is not labelled unfit'],
    ['Preferred', 'run on any node, and prefer those that are not labelled unfit'],
  ] as const)('says that the Deployment exists without data after 60 s, with %s', (placement, where) => {
    const watch = aWatch({ placement });
    const status = statusOf(anObservation({ watch, passes: [failedPass(2), failedPass(1)] }));
    expect(condition(status, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'DecidedWithoutData',
      message:
        'Waited 60 s for data, but the last two measurements do not both have data; until they do, ' +
        `the Deployment exists, and its pods ${where}`,
    });
  });

  it.each([
    ['the TrafficWatch is new', { feedStartedAt: NOW - 300_000, createdAt: NOW - 59_999 }],
    ['the operator has just started', { feedStartedAt: NOW - 59_999, createdAt: NOW - 300_000 }],
  ])('does not say that an existing Deployment has waited 60 s if %s', (_why, { feedStartedAt, createdAt }) => {
    const watch = aWatch({ metadata: { uid: 'uid-web', creationTimestamp: new Date(createdAt) } });
    const passes = [failedPass(1)];
    const status = statusOf(anObservation({ watch, deployment: aDeployment(watch), feedStartedAt, passes }));
    expect(condition(status, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Deciding',
      message:
        'Waiting for two consecutive measurements with data; the Deployment exists, and its pods run on any node that is not labelled unfit',
    });
  });

  it('drops a deleted node', () => {
    const o = settled(anObservation());
    const status = statusOf(changed(o, { nodes: o.view.nodes.filter((n) => n.name !== 'n2') }));
    expect(diffMergePatch(o.watch.status, status)).toMatchObject({ nodes: { n2: null }, fitNodes: 1 });
  });

  it('keeps counts and nodes if another TrafficWatch owns the label key', () => {
    const o = changed(settled(anObservation()), { claims: new Map([[KEY, [aClaim()]]]) });
    const status = statusOf(o);
    expect(status).toMatchObject({ ready: false, nodes: o.watch.status?.nodes, fitNodes: 2 });
    expect(condition(status, 'Stalled')).toMatchObject({ status: 'True', reason: 'LabelKeyTaken' });
  });

  it.each<[string, ObservationChanges]>([
    ['before the first pass', { passes: [] }],
    ['while it is stalled', { crdProblem: 'the CRD is older' }],
    ['once nodes are decided', {}],
  ])(
    'keeps the key of PKopel/traffic-operator %s: once it has a mode, nothing else shows the key',
    (_when, changes) => {
      const watch = aWatch({ status: { ready: true, nodes: {} } });
      const labelKey = 'web.traffic.example.com/unfit';
      const status = statusOf(anObservation({ watch, ...changes }));
      expect(status).toMatchObject({ mode: 'Enforce', labelKey });
      expect(labelKeysOf(aWatch({ status })).spec).toBe(labelKey);
    },
  );

  it('names the nodes without figures, the warnings and the short window', () => {
    const partial = statusOf(anObservation({ newest: pass(2, { n1: 1, n2: undefined }) }));
    expect(condition(partial, 'MetricsAvailable')).toMatchObject({
      reason: 'PartialData',
      message: 'no data for n2 (NoSeries)',
    });
    const none = statusOf(anObservation({ newest: pass(2, {}) }));
    expect(condition(none, 'MetricsAvailable')?.reason).toBe('NoData');
    const warned = statusOf(anObservation({ newest: pass(2, { n1: 1, n2: 1 }, { warnings: ['a block is missing'] }) }));
    expect(condition(warned, 'MetricsAvailable')?.message).toContain('a block is missing');
    const short = statusOf(anObservation({ newest: pass(2, { n1: 1, n2: 1 }, { samplesPerWindow: 3 }) }));
    expect(condition(short, 'MetricsAvailable')?.reason).toBe('WindowTooShort');
  });

  it('reports missing figures of a new node only after a minute', () => {
    const o = settled(anObservation());
    const joined = (ago: number) =>
      changed(o, { nodes: [...o.view.nodes, { name: 'n3', labels: {}, createdAt: NOW - ago }] });
    expect(condition(statusOf(joined(10_000)), 'MetricsAvailable')?.status).toBe('True');
    expect(condition(statusOf(joined(60_000)), 'MetricsAvailable')).toMatchObject({ reason: 'PartialData' });
  });

  it('names the failed write', () => {
    const o = anObservation();
    const failure = { reason: 'Forbidden', message: 'labelling node n1: cannot patch resource "nodes"' };
    const status = decideStatus(o, decidePlan(o), [failure, failure]);
    expect(condition(status, 'Reconciling')).toMatchObject({
      status: 'True',
      reason: 'Forbidden',
      message: `${failure.message} (and 1 more)`,
    });
  });

  const quota = 'deployments.apps "web" is forbidden: exceeded quota: none';
  it.each<[string, Failure, Partial<Condition>]>([
    [
      'False while the API server refuses a write',
      { reason: 'Forbidden', message: `applying the Deployment web: ${quota}`, isRefused: true },
      { status: 'False', reason: 'Forbidden', message: expect.stringMatching(`${quota}. Correct`) as string },
    ],
    [
      'True while the API server does not answer',
      { reason: 'ApiServerUnreachable', message: 'applying the Deployment web: no answer from the API server' },
      { status: 'True', reason: 'Decided' },
    ],
  ])('has Ready %s', (_what, failure, expected) => {
    const o = settled(anObservation());
    const status = decideStatus(o, decidePlan(o), [failure]);
    expect(condition(status, 'Ready')).toMatchObject(expected);
    expect(status).toMatchObject({ ready: expected.status === 'True', decided: true });
  });
});

const FULL = { device: 'eth0', percent: 95 };

describe('describeFullDevice', () => {
  it.each([
    { why: 'the node has no figure', seen: undefined },
    { why: 'there is only one device', seen: { percent: 27.1 } },
    { why: 'the node is above the threshold, too', seen: { percent: 60.1, fullest: FULL } },
    {
      why: 'the device is exactly at the threshold',
      seen: { percent: 27.1, fullest: { device: 'eth0', percent: 60 } },
    },
  ])('says nothing if $why', ({ seen }) => {
    expect(describeFullDevice(seen, 60)).toBeUndefined();
  });

  it('names the device, both figures and the field', () => {
    expect(describeFullDevice({ percent: 27.1428, fullest: FULL }, 60)).toBe(
      'eth0 is at 95.0 %, the node at 27.1 %; set spec.measure to Fullest to decide by the busiest device',
    );
  });
});

describe('the status of a node', () => {
  it('has the message while the device is full, and the verdict does not depend on it', () => {
    const nodes = new Map([
      ['n1', usage('n1', 3, { fullest: FULL })],
      ['n2', usage('n2', 3)],
    ]);
    const status = statusOf(settled(anObservation({ passes: [pass(2, {}, { nodes }), pass(1, {}, { nodes })] })));
    expect(status.nodes?.n1).toMatchObject({ verdict: 'Fit', message: expect.stringContaining('eth0') as string });
    expect(status.nodes?.n2).not.toHaveProperty('message');
  });
});
