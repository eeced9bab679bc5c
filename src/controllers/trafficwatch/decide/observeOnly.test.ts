import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { FINALIZER } from '../names.ts';
import type { Observation } from '../observe/observation.ts';
import {
  aClaim,
  aDeployment,
  anObservation,
  aWatch,
  changed,
  failedPass,
  KEY,
  LABELLING,
  NOW,
  pass,
  type WatchChanges,
} from '../testing/observations.ts';
import { eventsOf, statusOf } from '../testing/settled.ts';
import { decidePlan } from './decidePlan.ts';

const ENFORCED = { name: 'web', namespace: 'shop', uid: 'uid-web', finalizers: [FINALIZER] };
const LABELLED = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
const FULL = [pass(2, { n1: 50, n2: 2 }), pass(1, { n1: 60, n2: 2 })];
const observing = (changes: WatchChanges = {}) => aWatch({ mode: 'Observe', ...changes });

describe('a TrafficWatch with mode Observe', () => {
  it('has the verdicts and counts of Enforce, and writes neither finalizer, label nor Deployment', () => {
    const enforce = decidePlan(anObservation({ passes: FULL }));
    const plan = decidePlan(anObservation({ watch: observing(), passes: FULL }));
    expect([plan.verdicts, plan.counts, plan.decided]).toEqual([enforce.verdicts, enforce.counts, true]);
    expect([plan.finalizer, plan.labels.size, plan.deployment]).toEqual(['Keep', 0, undefined]);
  });

  it('tells in its status what Enforce would write', () => {
    const o = anObservation({ watch: observing(), passes: FULL });
    expect(statusOf(o)).toMatchObject({ mode: 'Observe', plan: { nodesToLabel: 2, deployment: 'Create' } });
    expect(statusOf(o)).not.toHaveProperty('labelKey');
    const there = anObservation({
      watch: observing(),
      nodes: LABELLED,
      passes: FULL,
      deployment: aDeployment(aWatch()),
    });
    expect(statusOf(there).plan).toEqual({ nodesToLabel: 0, deployment: 'Apply' });
  });

  it('would wait for data before it creates the Deployment', () => {
    const o = anObservation({ watch: observing(), passes: [], feedStartedAt: Date.parse('2026-01-01T00:10:00Z') });
    expect(statusOf(o).plan).toEqual({ nodesToLabel: 0, deployment: 'Wait' });
  });

  it('is Stalled where Enforce would be, and would write no Deployment', () => {
    const deployment = aDeployment(aWatch({ metadata: { uid: 'another' } }));
    const plan = decidePlan(anObservation({ watch: observing(), deployment }));
    expect([plan.stall?.reason, plan.planned?.deployment]).toEqual(['DeploymentNotOwned', 'None']);
  });

  it('has verdicts, and would write no Deployment, where the operator may not write it', () => {
    const plan = decidePlan(anObservation({ watch: observing(), deploymentProblem: 'may not write Deployments' }));
    expect([plan.stall?.reason, plan.planned?.deployment]).toEqual(['DeploymentsNotAllowed', 'None']);
    expect(plan.verdicts).toHaveLength(2);
  });

  it('keeps the verdict of its status while two passes differ, since there is no label to keep it', () => {
    const first = anObservation({ watch: observing(), passes: FULL });
    const watch = { ...first.watch, status: statusOf(first) };
    const next = changed(first, { watch, passes: [pass(3, { n1: 5, n2: 50 }), ...FULL] });
    expect(decidePlan(next).verdicts.map((v) => [v.verdict, v.reason])).toEqual([
      ['Unfit', 'AwaitingSecondPass'],
      ['Fit', 'AwaitingSecondPass'],
    ]);
  });

  it('keeps a node unfit over a failed pass, as a label would', () => {
    const watch = observing({ recoverBandwidthPercent: '5' });
    const first = anObservation({ watch, passes: FULL });
    const unfit = { ...watch, status: statusOf(first) };
    const failed = changed(first, { watch: unfit, passes: [failedPass(3), ...FULL] });
    const after = statusOf(failed);
    expect(after.nodes?.n1).toMatchObject({ verdict: 'Unknown', unfit: true });
    const between = [pass(5, { n1: 7, n2: 2 }), pass(4, { n1: 7, n2: 2 })];
    const later = changed(failed, { watch: { ...watch, status: after }, passes: between });
    expect(decidePlan(later).verdicts[0]).toMatchObject({ verdict: 'Unfit', reason: 'NotRecovered' });
  });

  it('takes no labels of another TrafficWatch for its own verdicts', () => {
    const nodes = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'true' } };
    const o = anObservation({
      watch: observing(),
      nodes,
      passes: [pass(2, { n1: 50, n2: 2 }), pass(1, { n1: 2, n2: 50 })],
    });
    expect(decidePlan(o).verdicts.map(({ reason }) => reason)).toEqual(['PassesDisagree', 'PassesDisagree']);
  });

  it('has verdicts though the Deployment of its name belongs to another owner', () => {
    const deployment = aDeployment(aWatch({ metadata: { uid: 'another' } }));
    const { nodes, plan } = statusOf(anObservation({ watch: observing(), deployment, passes: FULL }));
    expect([nodes?.n1?.verdict, plan]).toEqual(['Unfit', { nodesToLabel: 2, deployment: 'None' }]);
  });

  it('tells of nodes that turn, as Enforce does', () => {
    const first = anObservation({ watch: observing() });
    const watch = { ...first.watch, status: statusOf(first) };
    const events = eventsOf(changed(first, { watch, passes: FULL }));
    expect(events.map(({ reason }) => reason)).toContain('NodeUnfit');
  });

  it('says in its conditions where the verdicts are, and that nothing is written', () => {
    const { conditions = [] } = statusOf(anObservation({ watch: observing(), passes: FULL }));
    const messages = conditions.map(({ type, status, message }) => [type, status, message]);
    expect(messages).toContainEqual([
      'Ready',
      'True',
      'Every node has a verdict; dry run (mode Observe): see status.nodes, labels are not written',
    ]);
    expect(messages).toContainEqual([
      'Reconciling',
      'False',
      'Dry run (mode Observe): nothing is written; status.plan shows what mode Enforce would write',
    ]);
  });
});

describe('the time of the label that a node would have', () => {
  const MINUTE = 60_000;
  const watch = observing({ minHold: '5m' });
  const IDLE = [pass(9, { n1: 2, n2: 2 }), pass(8, { n1: 2, n2: 2 })];
  const first = anObservation({ watch, passes: FULL });
  const labelSince = '2026-01-01T00:10:00Z';

  /** The result of these passes, so many minutes after the status of the observation. */
  const later = (o: Observation, minutes: number, passes: readonly Snapshot[]) =>
    changed(o, { watch: { ...watch, status: statusOf(o) }, passes, now: o.now + minutes * MINUTE });
  const n1Of = (o: Observation) => statusOf(o).nodes?.n1;

  it('is the time of the first verdict, and stays while the node is Unknown and when it is measured again', () => {
    expect(n1Of(first)).toMatchObject({ since: labelSince, labelSince });
    const unknown = later(first, 2, [failedPass(3), ...FULL]);
    expect(n1Of(unknown)).toMatchObject({ verdict: 'Unknown', since: '2026-01-01T00:12:00Z', labelSince });
    expect(n1Of(later(unknown, 1, FULL))).toMatchObject({ since: '2026-01-01T00:13:00Z', labelSince });
  });

  it('lets minHold end when it would with a label, though the node was Unknown', () => {
    const unknown = later(first, 3, [failedPass(3), ...FULL]);
    const held = later(unknown, 1, IDLE);
    expect(n1Of(held)).toMatchObject({ verdict: 'Unfit', reason: 'HeldByMinHold', labelSince });
    const free = later(held, 2, IDLE);
    expect(n1Of(free)).toMatchObject({ verdict: 'Fit', unfit: false, labelSince: '2026-01-01T00:16:00Z' });
  });

  it('keeps a node fit over a failed pass, as a label would', () => {
    const unknown = later(first, 1, [failedPass(3), ...FULL]);
    const passes = [pass(5, { n1: 50, n2: 50 }), failedPass(4)];
    expect(statusOf(later(unknown, 1, passes)).nodes?.n2).toMatchObject({ verdict: 'Fit', labelSince });
  });

  it('is absent before the first verdict, and with mode Enforce', () => {
    expect(n1Of(anObservation({ watch, passes: [failedPass(1)] }))).not.toHaveProperty('labelSince');
    expect(n1Of(anObservation({ watch: aWatch({ minHold: '5m' }), passes: FULL }))).not.toHaveProperty('labelSince');
  });

  it('is the time of our label after a change from Enforce', () => {
    const own = { ownedKeys: [KEY], writtenAt: NOW - 3 * MINUTE };
    const enforced = anObservation({ watch: observing(LABELLING), nodes: LABELLED, passes: FULL });
    const nodes = enforced.view.nodes.map((node) => ({ ...node, ...own }));
    expect(n1Of(changed(enforced, { nodes }))).toMatchObject({ unfit: true, labelSince: '2026-01-01T00:07:00Z' });
  });
});

describe('a change from Enforce to Observe', () => {
  it('takes the labels off, and the finalizer behind them', () => {
    const plan = decidePlan(anObservation({ watch: observing({ metadata: ENFORCED }), nodes: LABELLED, passes: FULL }));
    expect(plan.finalizer).toBe('Remove');
    expect(Object.fromEntries(plan.labels)).toEqual({ n1: { [KEY]: null }, n2: { [KEY]: null } });
  });

  it('leaves labels that another TrafficWatch uses', () => {
    const claims = new Map([[KEY, [aClaim({ creationTimestamp: '2026-02-01T00:00:00.000Z' })]]]);
    const o = anObservation({ watch: observing({ metadata: ENFORCED }), nodes: LABELLED, claims });
    expect(decidePlan(o).labels.size).toBe(0);
  });

  it('leaves labels that it never wrote: without our finalizer they are another owner’s', () => {
    expect(decidePlan(anObservation({ watch: observing(), nodes: LABELLED })).labels.size).toBe(0);
  });

  it('leaves no label key in the status, though a foreign Deployment stalls it', () => {
    const deployment = aDeployment(aWatch({ metadata: { uid: 'another' } }));
    const watch = observing({ metadata: ENFORCED, status: { labelKey: KEY } });
    const o = anObservation({ watch, nodes: LABELLED, deployment });
    expect(decidePlan(o).labels.size).toBe(2);
    expect(statusOf(o)).not.toHaveProperty('labelKey');
  });

  it('leaves the Deployment as it is', () => {
    const deployment = aDeployment(aWatch());
    const watch = observing({ metadata: ENFORCED, deployment: { replicas: 7 } });
    expect(decidePlan(anObservation({ watch, deployment })).deployment).toBeUndefined();
  });
});

describe('a change from Observe to Enforce', () => {
  const watch = observing({ recoverBandwidthPercent: '5' });
  const status = statusOf(anObservation({ watch, passes: FULL }));
  const enforced = aWatch({ recoverBandwidthPercent: '5', status });

  it('enforces what was observed: an unfit node between the thresholds gets the label', () => {
    const passes = [pass(4, { n1: 7, n2: 2 }), pass(3, { n1: 7, n2: 2 })];
    expect(Object.fromEntries(decidePlan(anObservation({ watch: enforced, passes })).labels)).toEqual({
      n1: { [KEY]: 'true' },
      n2: { [KEY]: 'false' },
    });
  });

  it('decides again whether there is data: no label holds the earlier verdict', () => {
    const o = anObservation({ watch: enforced, newest: failedPass(3), feedStartedAt: NOW });
    expect([decidePlan(o).decided, decidePlan(o).deployment?.kind]).toEqual([false, 'Wait']);
  });
});
