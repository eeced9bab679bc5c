import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import type { Observation } from '../../observe/observation.ts';
import { decidePlan } from '../decidePlan.ts';
import { decideStatus } from './status.ts';
import {
  aClaim,
  anObservation,
  changed,
  failedPass,
  KEY,
  NOW,
  pass,
  usage,
  aDeployment,
  aWatch,
} from '../../testing/observations.ts';
import { settled, statusOf } from '../../testing/settled.ts';
import { CORRECTED_ANNOTATION } from '../../model/replicas.ts';
import { decideConditions } from './conditions.ts';

const HEALTHY = { n1: 50, n2: 1 };

/** The condition of this type after a pass with these changes to a healthy pass. */
function conditionOf(type: string, changes: Partial<Snapshot>, percents: Record<string, number | undefined> = HEALTHY) {
  const newest = pass(3, percents, changes);
  const status = statusOf(changed(settled(anObservation()), { newest, now: NOW + 300_000 }));
  return status.conditions?.find((c) => c.type === type);
}

const PROBLEM = { reason: 'ExporterNotReady', message: 'no node-exporter is ready on n2 (ErrImagePull): not measured' };

/** The message of MetricsAvailable after this pass, with these measurement problems. */
function messageOf(newest: Snapshot, measurementProblems: Observation['measurementProblems']): string | undefined {
  const status = statusOf(changed(settled(anObservation()), { newest, measurementProblems, now: NOW + 300_000 }));
  return status.conditions?.find((c) => c.type === 'MetricsAvailable')?.message;
}

describe('Ready', () => {
  it.each(['InvalidSpec', 'LabelKeyTaken', 'DeploymentNotOwned', 'SelectorChanged', 'DeploymentInvalid'] as const)(
    'is False during a stall with %s, also if it was True before, and True again afterwards',
    (reason) => {
      const o = settled(anObservation());
      expect(o.watch.status?.ready).toBe(true);
      const plan = { ...decidePlan(o), stall: { reason, message: 'because' } };
      const status = decideStatus(o, plan, []);
      const of = (type: string) => status.conditions?.find((c) => c.type === type);
      expect(status.ready).toBe(false);
      expect(of('Ready')).toMatchObject({ status: 'False', reason, message: 'because' });
      expect(of('Stalled')).toMatchObject({ status: 'True', reason, message: 'because' });
      expect(of('Reconciling')).toMatchObject({
        status: 'False',
        message: 'Labels are updated; the Deployment is unchanged while Stalled',
      });
      // Also after a restart while Prometheus is down: once decided, it stays decided.
      for (const passes of [[], [failedPass(3, 'Unreachable')]]) {
        const later = changed(o, { watch: { ...o.watch, status }, passes });
        expect(statusOf(later).ready).toBe(true);
        expect(decidePlan(later).deployment?.kind).toBe('Apply');
      }
    },
  );

  it('remembers that verdicts were decided while the TrafficWatch is stalled and writes nothing', () => {
    const o = settled(anObservation());
    // The status of an older release, which has no `decided`.
    const status = { ...o.watch.status };
    delete status.decided;
    const stalledPlan = { ...decidePlan(anObservation({ claims: new Map([[KEY, [aClaim()]]]) })) };
    expect(stalledPlan.decided).toBe(false);
    const stalled = decideStatus(changed(o, { watch: { ...o.watch, status } }), stalledPlan, []);
    expect(stalled).toMatchObject({ ready: false, decided: true });
    const reconciling = stalled.conditions?.find((c) => c.type === 'Reconciling');
    expect(reconciling?.message).toBe('Labels and Deployment are unchanged while Stalled');
    const later = changed(o, { watch: { ...o.watch, status: stalled }, passes: [] });
    expect(statusOf(later).ready).toBe(true);
  });
});

describe('PrometheusReachable', () => {
  it.each([
    [0, 'The last query succeeded'],
    [59, 'The last query succeeded'],
    [
      300.4,
      "The last query succeeded; the clock of Prometheus is about 5 min ahead of the operator's; verdicts ignore this",
    ],
    [
      -3600,
      "The last query succeeded; the clock of Prometheus is about 60 min behind the operator's; verdicts ignore this",
    ],
  ])('describes a clock that is %d s ahead: %s', (seconds, message) => {
    const reachable = conditionOf('PrometheusReachable', { timeSeconds: NOW / 1000 + seconds });
    expect(reachable).toMatchObject({ status: 'True', reason: 'PrometheusAnswers', message });
  });
});

it('PrometheusReachable says what to do before passes fail at their deadline', () => {
  const reachable = conditionOf('PrometheusReachable', { isSlow: true });
  expect(reachable).toMatchObject({ status: 'True', reason: 'PrometheusAnswers' });
  expect(reachable?.message).toMatch(/; passes take most of their deadline, .* --interval .*more CPU/);
});

describe('MetricsAvailable', () => {
  it('repeats warnings of Prometheus', () => {
    const message = 'Prometheus warns: store-2 did not answer';
    expect(conditionOf('MetricsAvailable', { warnings: ['store-2 did not answer'] })).toMatchObject({
      status: 'False',
      reason: 'PartialData',
      message,
    });
  });

  it('names the nodes without figures and the warning of Prometheus', () => {
    const available = conditionOf(
      'MetricsAvailable',
      { warnings: ['store-2 did not answer'] },
      { n1: 50, n2: undefined },
    );
    expect(available?.message).toBe('no data for n2 (NoSeries); Prometheus warns: store-2 did not answer');
  });

  it('says what is wrong with a node without a figure', () => {
    const nodes = new Map(Object.entries(HEALTHY).map(([node, percent]) => [node, usage(node, percent)]));
    nodes.set('n2', usage('n2', undefined, { reason: 'InvalidCapacity', message: 'the annotation "lots" is none' }));
    expect(conditionOf('MetricsAvailable', { nodes })?.message).toBe(
      'no data for n2 (InvalidCapacity); n2: the annotation "lots" is none',
    );
  });

  it('names a node whose capacity fell, whatever its verdict, and stays True', () => {
    const drop = { fromBytesPerSecond: 2.5e9, devices: ['bond0'] };
    const nodes = new Map(Object.entries(HEALTHY).map(([node, percent]) => [node, usage(node, percent)]));
    nodes.set('n2', usage('n2', 1, { capacityBytesPerSecond: 1.25e9, drop }));
    expect(conditionOf('MetricsAvailable', { nodes })).toMatchObject({
      status: 'True',
      reason: 'AllMeasured',
      message: 'all nodes have data; n2: capacity fell from 20Gbit to 10Gbit (bond0)',
    });
  });

  it('names nodes without driver information, says what to enable, and stays True', () => {
    const nodes = new Map(Object.entries(HEALTHY).map(([node, percent]) => [node, usage(node, percent)]));
    nodes.set('n2', usage('n2', 1, { lacksDrivers: true }));
    const available = conditionOf('MetricsAvailable', { nodes });
    expect(available).toMatchObject({ status: 'True', reason: 'AllMeasured' });
    expect(available?.message).toMatch(/^all nodes have data; no drivers reported for n2: .*--collector\.ethtool$/);
  });

  it.each([
    { lagSeconds: 29, told: '' },
    { lagSeconds: 30, told: 'samples reach Prometheus 30 s late or more, and figures are as old' },
    { lagSeconds: 119, told: 'samples reach Prometheus 60 s late or more, and figures are as old' },
  ])('reports samples that are $lagSeconds s late, in coarse steps: "$told"', ({ lagSeconds, told }) => {
    const whole = conditionOf('MetricsAvailable', { lagSeconds });
    expect(whole).toMatchObject({ status: 'True', message: `all nodes have data${told && `; ${told}`}` });
    const part = conditionOf('MetricsAvailable', { lagSeconds }, { n1: 50, n2: undefined });
    expect(part?.message).toBe(`no data for n2 (NoSeries)${told && `; ${told}`}`);
  });

  it('names the nodes with a figure whose samples are late, while the samples of others are not', () => {
    const late = { lagSeconds: 1, lateNodes: new Set(['n1', 'n2', 'elsewhere']) };
    const told = 'samples of n1 reach Prometheus 30 s late or more, and their figures are as old';
    expect(conditionOf('MetricsAvailable', late, { n1: 50, n2: undefined })?.message).toBe(
      `no data for n2 (NoSeries); ${told}`,
    );
  });

  it('names series that belong to no node', () => {
    const stray = { unmatchedSeries: 1, unmatchedExamples: ['{node="gone"}'] };
    expect(conditionOf('MetricsAvailable', stray)?.message).toBe(
      'all nodes have data; series that belong to no node, or to several: {node="gone"}',
    );
  });
});

describe('MetricsAvailable with nodes that cannot be measured', () => {
  const OFF = { reason: 'NodeNotReady', message: 'switched off' } as const;
  const WINDOWS = { reason: 'NotMeasurable', message: 'not Linux' } as const;

  function available(percents: Record<string, number | undefined>, notMeasurable: Observation['notMeasurable']) {
    const nodes = Object.fromEntries(Object.keys(percents).map((name) => [name, {}]));
    const o = settled(anObservation({ nodes }));
    const status = statusOf(changed(o, { newest: pass(3, percents), notMeasurable, now: NOW + 300_000 }));
    return status.conditions?.find((c) => c.type === 'MetricsAvailable');
  }

  it.each([
    {
      why: 'the others have figures: True, and the message names the nodes that cannot be measured',
      percents: { n1: 50, off: undefined, win: undefined },
      found: { off: OFF, win: WINDOWS },
      status: 'True',
      reason: 'AllMeasured',
      message: 'all measurable nodes have data; nodes that cannot be measured: off (NodeNotReady), win (NotMeasurable)',
    },
    {
      why: 'a node that can be measured has no figures: PartialData',
      percents: { n1: 50, n2: undefined, off: undefined },
      found: { off: OFF },
      status: 'False',
      reason: 'PartialData',
      message: 'no data for n2 (NoSeries); nodes that cannot be measured: off (NodeNotReady)',
    },
    {
      why: 'no node that can be measured has figures: NoData',
      percents: { n1: undefined, off: undefined },
      found: { off: OFF },
      status: 'False',
      reason: 'NoData',
      message: 'no data for n1 (NoSeries); nodes that cannot be measured: off (NodeNotReady)',
    },
    {
      why: 'no node can be measured: NoData',
      percents: { off: undefined, win: undefined },
      found: { off: OFF, win: WINDOWS },
      status: 'False',
      reason: 'NoData',
      message: 'no node can be measured; nodes that cannot be measured: off (NodeNotReady), win (NotMeasurable)',
    },
  ])('if $why', ({ percents, found, status, reason, message }) => {
    const expected = { status, reason, message };
    expect(available(percents, new Map(Object.entries(found)))).toMatchObject(expected);
  });
});

describe('MetricsAvailable with series that have no node of their own', () => {
  const STRAYS = {
    unmatchedSeries: 12,
    unmatchedExamples: ['{instance="10.9.9.9:9100"}'],
    ambiguousSeries: 3,
    ambiguousExamples: ['{instance="10.0.0.1:9100"}'],
  };
  const told =
    'series that belong to no node: 12, such as {instance="10.9.9.9:9100"}; ' +
    'series that belong to several nodes: 3, such as {instance="10.0.0.1:9100"}';

  it.each([
    {
      why: 'no node has figures, as when no label maps a series to its node',
      newest: pass(3, { n1: undefined, n2: undefined }, STRAYS),
      reason: 'NoData',
      before: 'no data for n1 (NoSeries), n2 (NoSeries)',
    },
    {
      why: 'some nodes have no figures',
      newest: pass(3, { n1: 50, n2: undefined }, STRAYS),
      reason: 'PartialData',
      before: 'no data for n2 (NoSeries)',
    },
    {
      why: 'Prometheus warns',
      newest: pass(3, HEALTHY, { ...STRAYS, warnings: ['store-2 did not answer'] }),
      reason: 'PartialData',
      before: 'Prometheus warns: store-2 did not answer',
    },
  ])('counts and names them if $why', ({ newest, reason, before }) => {
    const status = statusOf(changed(settled(anObservation()), { newest, now: NOW + 300_000 }));
    const available = status.conditions?.find((c) => c.type === 'MetricsAvailable');
    expect(available).toMatchObject({ status: 'False', reason, message: `${before}; ${told}` });
  });
});

describe('MetricsAvailable with a problem of the measurement', () => {
  it.each([
    {
      why: 'a node has no figures',
      newest: pass(3, { n1: 50, n2: undefined }),
      before: 'no data for n2 (NoSeries)',
    },
    {
      why: 'the pass failed',
      newest: failedPass(3),
      before: 'the last pass over Prometheus failed; labels are unchanged',
    },
  ])('names the problem if $why', ({ newest, before }) => {
    expect(messageOf(newest, [PROBLEM])).toBe(`${before}; ${PROBLEM.message}`);
  });

  it('does not mention the problem if every node has figures', () => {
    expect(messageOf(pass(3, HEALTHY), [PROBLEM])).toBe('all nodes have data');
  });

  it('limits the number and the length of the problems in the message', () => {
    const problems = Array.from({ length: 50 }, (_, n) => ({ reason: 'R', message: `${n} ${'x'.repeat(5_000)}` }));
    const message = messageOf(failedPass(3), problems);
    expect(message).toMatch(
      /^the last pass .*; 0 x+…; 1 x+…; 2 x+…; and 47 more problems of the measurement, see the log$/,
    );
    expect(message!.length).toBeLessThan(2_000);
  });
});

describe('ReplicasContested', () => {
  it.each([
    ['kube-controller-manager', undefined, true],
    ['k3s', undefined, false],
    ['k3s', JSON.stringify({ k3s: new Date(NOW - 15_000).toISOString() }), true],
    ['kubectl', undefined, false],
    ['kubectl', JSON.stringify({ kubectl: new Date(NOW - 15_000).toISOString() }), true],
  ])('is the reason for field manager %s, corrected before: %s: %s', (manager, corrected, isContested) => {
    const watch = aWatch({ deployment: { replicas: 3 } });
    const live = aDeployment(watch);
    const fieldsV1 = { 'f:spec': { 'f:replicas': {} } };
    const managedFields = [{ manager, operation: 'Update', subresource: 'scale', fieldsV1 }];
    const annotations: Record<string, string> = corrected === undefined ? {} : { [CORRECTED_ANNOTATION]: corrected };
    const metadata = { ...live.metadata, managedFields, annotations };
    const o = anObservation({ watch, deployment: { metadata, spec: { ...live.spec!, replicas: 5 } } });
    const conditions = decideConditions(o, decidePlan(o), [], new Date(NOW).toISOString());
    const found = conditions.find(({ type }) => type === 'Reconciling');
    expect(found?.reason === 'ReplicasContested').toBe(isContested);
    if (!isContested) return;
    expect(found?.message).toContain(`spec.deployment.replicas is 3, but field manager "${manager}"`);
    expect(found?.message).toContain('"path":"/spec/deployment/replicas"');
    expect(found?.message).toContain('kubectl -n shop scale deployment web --replicas=3');
  });
});
