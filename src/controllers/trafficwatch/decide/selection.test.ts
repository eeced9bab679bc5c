import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import { FINALIZER } from '../names.ts';
import type { NodeView, Observation } from '../observe/observation.ts';
import {
  aClaim,
  anObservation,
  aDeployment,
  aWatch,
  changed,
  failedPass,
  KEY,
  LABELLING,
  NOW,
  pass,
  type ObservationChanges,
  type WatchChanges,
} from '../testing/observations.ts';
import { eventsOf, statusOf } from '../testing/settled.ts';
import { decidePlan } from './decidePlan.ts';
import { selectNodes } from '../observe/passViews.ts';

const OLD = 'old.traffic.example.com/unfit';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const WORKERS: LabelSelector = { matchExpressions: [{ key: CONTROL_PLANE, operator: 'DoesNotExist' }] };
const NOBODY: LabelSelector = { matchLabels: { pool: 'none' } };
const INVALID: LabelSelector = { matchExpressions: [{ key: 'pool', operator: 'In' }] };
const PERCENTS = { n1: 50, n2: 2, cp: 90 };
const NONE_SELECTED = 'spec.nodeSelector selects no node: no node is judged, and pods may run on any node';

/** A TrafficWatch that has labelled nodes, and selects all but the control plane. */
const selecting = (changes: WatchChanges = {}) =>
  aWatch({ nodeSelector: WORKERS, ...changes, metadata: { finalizers: [FINALIZER], ...changes.metadata } });

/** n1 (above), n2, and cp of the control plane (above), with these labels of ours on cp. */
function observed(onControlPlane: Record<string, string> = {}, changes: ObservationChanges = {}): Observation {
  const nodes = { n1: {}, n2: {}, cp: { [CONTROL_PLANE]: '', ...onControlPlane } };
  return anObservation({ watch: selecting(), nodes, passes: [pass(2, PERCENTS), pass(1, PERCENTS)], ...changes });
}

const labelsOf = (o: Observation) => Object.fromEntries(decidePlan(o).labels);
const conditionOf = (o: Observation, type: string) => statusOf(o).conditions?.find((c) => c.type === type);

/** The labels of the observation, of which another manager wrote those on cp. */
function withRival(o: Observation): Observation {
  const nodes = [...o.view.nodes, ...o.view.outside].map((node): NodeView =>
    node.name === 'cp' ? { ...node, otherOwners: { [KEY]: 'person' } } : node,
  );
  return changed(o, { nodes });
}

describe('selectNodes', () => {
  const nodes: NodeView[] = [
    { name: 'a', labels: {}, createdAt: 0, otherLabels: { keys: ['pool'], values: ['x'] }, hostname: 'host-a' },
    { name: 'b', labels: {}, createdAt: 0 },
  ];
  const namesOf = (selector: LabelSelector) => selectNodes(nodes, selector).nodes.map(({ name }) => name);

  it('is the list itself without a selector, so that nothing is copied', () => {
    expect(selectNodes(nodes, undefined)).toEqual({ nodes, outside: [] });
    expect(selectNodes(nodes, undefined).nodes).toBe(nodes);
  });

  it('reads any label of a node, also its hostname', () => {
    expect(namesOf({ matchLabels: { pool: 'x' } })).toEqual(['a']);
    expect(namesOf({ matchExpressions: [{ key: 'pool', operator: 'NotIn', values: ['x'] }] })).toEqual(['b']);
    expect(namesOf({ matchLabels: { 'kubernetes.io/hostname': 'host-a' } })).toEqual(['a']);
  });
});

describe('a TrafficWatch with a node selector', () => {
  it('labels and counts only the selected nodes', () => {
    expect(labelsOf(observed())).toEqual({ n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } });
    const { fitNodes, unfitNodes, unknownNodes, nodes } = statusOf(observed());
    expect([fitNodes, unfitNodes, unknownNodes, Object.keys(nodes ?? {})]).toEqual([1, 1, 0, ['n1', 'n2']]);
  });

  it('has a share of the selected nodes as its limit', () => {
    const watch = selecting();
    const o = observed({}, { watch: { ...watch, spec: { ...watch.spec, minFit: '50%' } } });
    expect(decidePlan(o).breaker).toEqual({ above: 1, limit: 1, held: 0 });
  });

  it.each<[why: string, o: Observation, expected: object | undefined]>([
    ['under its key is removed', observed({ [KEY]: 'true' }), { [KEY]: null }],
    [
      'is removed also while Prometheus is down',
      observed({ [KEY]: 'true' }, { newest: failedPass(2) }),
      { [KEY]: null },
    ],
    ['under another key stays', observed({ [OLD]: 'true' }), undefined],
    ['that another manager owns stays', withRival(observed({ [KEY]: 'true' })), undefined],
    [
      'stays while the TrafficWatch has never labelled a node',
      observed({ [KEY]: 'true' }, { watch: selecting({ metadata: { finalizers: [] } }) }),
      undefined,
    ],
    [
      'is removed under both keys in a rename, before the Deployment has moved',
      observed(
        { [KEY]: 'true', [OLD]: 'true' },
        { watch: selecting({ status: { labelKey: OLD } }), deployment: aDeployment(aWatch(), OLD) },
      ),
      { [KEY]: null, [OLD]: null },
    ],
    [
      'under the previous key stays if another TrafficWatch names that key',
      observed(
        { [KEY]: 'true', [OLD]: 'true' },
        { watch: selecting({ status: { labelKey: OLD } }), claims: new Map([[OLD, [aClaim()]]]) },
      ),
      { [KEY]: null },
    ],
    [
      'is removed when the TrafficWatch is deleted',
      observed({ [KEY]: 'true' }, { watch: selecting({ metadata: { deletionTimestamp: new Date() } }) }),
      { [KEY]: null },
    ],
    [
      'is removed with mode Observe',
      observed({ [KEY]: 'true' }, { watch: selecting({ mode: 'Observe' }) }),
      { [KEY]: null },
    ],
    [
      'stays with an invalid selector',
      observed({ [KEY]: 'true' }, { watch: selecting({ nodeSelector: INVALID }) }),
      undefined,
    ],
  ])('a label on a node outside %s', (_why, o, expected) => {
    expect(labelsOf(o).cp).toEqual(expected);
  });

  it('takes the label off a node that leaves within minHold, and holds the labels of the others', () => {
    const watch = selecting({ ...LABELLING, minHold: '5m' });
    const o = observed({ [KEY]: 'true' }, { watch });
    const nodes = [...o.view.nodes, ...o.view.outside].map((node): NodeView => {
      const labels = node.name === 'n1' ? { [KEY]: 'false' } : node.labels;
      return { ...node, labels, ownedKeys: Object.keys(labels), writtenAt: NOW - 60_000 };
    });
    expect(labelsOf(changed(o, { nodes }))).toEqual({ n2: { [KEY]: 'false' }, cp: { [KEY]: null } });
  });

  it('gives no verdict by missingData to nodes outside', () => {
    const watch = selecting({ missingData: { policy: 'Unfit' } });
    const missingSince = new Map([
      ['n2', NOW - 3_600_000],
      ['cp', NOW - 3_600_000],
    ]);
    const passes = [pass(2, { n1: 2, n2: undefined, cp: undefined }), pass(1, { n1: 2 })];
    const o = observed({ [KEY]: 'false' }, { watch, missingSince, passes });
    expect(labelsOf(o)).toEqual({ n1: { [KEY]: 'false' }, n2: { [KEY]: 'true' }, cp: { [KEY]: null } });
  });

  it('keeps the previous key of a rename in use until nodes outside have lost it', () => {
    const watch = selecting({ status: { labelKey: OLD } });
    const deployment = aDeployment(watch);
    expect(decidePlan(observed({ [OLD]: 'true' }, { watch, deployment })).labelKey).toBe(OLD);
    expect(decidePlan(observed({}, { watch, deployment })).labelKey).toBe(KEY);
  });

  it('drops the write records of a node that has left', () => {
    const o = observed();
    const writes = { [KEY]: { value: 'true', rewrites: 0, pass: 1 } };
    const nodes = [...o.view.nodes, ...o.view.outside.map((node) => ({ ...node, writes }))];
    expect(decidePlan(changed(o, { nodes })).labelsAtRest).toEqual([{ node: 'cp', key: KEY }]);
  });

  it('is decided by passes with data of selected nodes, not of others', () => {
    const others = [pass(2, { cp: 90 }), pass(1, { cp: 90 })];
    expect(decidePlan(observed({}, { passes: others })).decided).toBe(false);
    expect(decidePlan(observed()).decided).toBe(true);
  });

  it('says that all selected nodes have data, or is unfit', () => {
    expect(conditionOf(observed(), 'MetricsAvailable')).toMatchObject({
      status: 'True',
      message: expect.stringMatching(/^all selected nodes have data/) as string,
    });
    const full = [pass(2, { n1: 50, n2: 50, cp: 1 }), pass(1, { n1: 50, n2: 50, cp: 1 })];
    expect(eventsOf(observed({}, { passes: full })).find(({ reason }) => reason === 'AllNodesUnfit')?.note).toBe(
      'every selected node is unfit: running pods are not moved, new pods find only nodes that spec.nodeSelector leaves out',
    );
  });
});

describe('a selector that selects no node', () => {
  const o = observed({ [KEY]: 'false' }, { watch: selecting({ nodeSelector: NOBODY }) });

  it('is no error: the conditions say it, and the Deployment waits for nothing', () => {
    expect(conditionOf(o, 'Ready')).toMatchObject({ status: 'True', reason: 'Decided', message: NONE_SELECTED });
    expect(conditionOf(o, 'MetricsAvailable')).toMatchObject({
      status: 'True',
      reason: 'NoNodeSelected',
      message: NONE_SELECTED,
    });
    expect(conditionOf(o, 'Stalled')).toMatchObject({ status: 'False' });
    expect(decidePlan(o).deployment?.kind).toBe('Apply');
    expect(eventsOf(o).filter(({ type }) => type === 'Warning')).toEqual([]);
  });

  it('has no verdicts, and takes the labels off', () => {
    expect(decidePlan(o).verdicts).toEqual([]);
    expect(labelsOf(o)).toEqual({ cp: { [KEY]: null } });
  });

  it('still says that Prometheus is down', () => {
    expect(conditionOf(changed(o, { newest: failedPass(3) }), 'MetricsAvailable')).toMatchObject({ reason: 'NoData' });
  });
});
