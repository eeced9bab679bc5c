import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LabelSelector } from '../../src/api/labelSelector.ts';
import type { TrafficWatchStatus } from '../../src/api/trafficwatch/schema.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { writesOf } from '../harness/audit.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** spec.nodeSelector on a real API server and Prometheus: which nodes are labelled, and by the audit log which are written. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const WORKERS: LabelSelector = { matchExpressions: [{ key: CONTROL_PLANE, operator: 'DoesNotExist' }] };
const OPERATOR = 'operator-under-test';
const NODES = ['cp1', 'cp2', 'n1', 'n2'];

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  for (const node of ['cp1', 'cp2']) {
    await f.setLabels(node, { [CONTROL_PLANE]: '' });
    f.exporter.setPercent(node, 90);
  }
  f.exporter.setPercent('n1', 60);
  await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
  await f.createWatch('web', { maxBandwidthPercent: '10', nodeSelector: WORKERS });
});
afterAll(() => f.stop());

async function expectLabels(labels: Record<string, string>): Promise<void> {
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual(labels), WAIT);
}

async function expectStatus(expected: Partial<TrafficWatchStatus>): Promise<TrafficWatchStatus> {
  return vi.waitFor(async () => {
    const { status } = await f.watch('web');
    expect(status).toMatchObject(expected);
    return status!;
  }, WAIT);
}

/** The nodes that the operator has written, each once. */
function writtenNodes(): string[] {
  const writes = writesOf(f.controlPlane, OPERATOR).filter(({ resource }) => resource === 'nodes');
  return [...new Set(writes.map(({ name }) => name))].sort();
}

describe('a selector that leaves out the control plane', () => {
  it('labels and counts the other nodes only', async () => {
    await expectLabels({ n1: 'true', n2: 'false' });
    const { nodes } = await expectStatus({ fitNodes: 1, unfitNodes: 1, unknownNodes: 0, ready: true });
    expect(Object.keys(nodes ?? {})).toEqual(['n1', 'n2']);
    await vi.waitFor(() => expect(writtenNodes()).toEqual(['n1', 'n2']), WAIT);
  });

  it('takes the label off a node that leaves the selection, and labels it again when it is back', async () => {
    await f.setLabels('n1', { [CONTROL_PLANE]: '' });
    await expectLabels({ n2: 'false' });
    await expectStatus({ fitNodes: 1, unfitNodes: 0 });
    await f.setLabels('n1', { [CONTROL_PLANE]: null });
    await expectLabels({ n1: 'true', n2: 'false' });
    await f.setLabels('cp1', { [CONTROL_PLANE]: null });
    await expectLabels({ cp1: 'true', n1: 'true', n2: 'false' });
    // The API server logs a write after its answer.
    await vi.waitFor(() => expect(writtenNodes()).toEqual(['cp1', 'n1', 'n2']), WAIT);
  });

  it('leaves a label that a person wrote on a node outside', async () => {
    await f.setLabels('cp2', { [KEY]: 'true' });
    await f.setLabels('cp1', { [CONTROL_PLANE]: '' });
    await expectLabels({ cp2: 'true', n1: 'true', n2: 'false' });
    expect(writtenNodes()).not.toContain('cp2');
    await f.setLabels('cp2', { [KEY]: null });
  });

  it('follows a change of the selector', async () => {
    await f.patchWatch('web', {
      spec: { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'n2' }, matchExpressions: null } },
    });
    await expectLabels({ n2: 'false' });
    await expectStatus({ fitNodes: 1, unfitNodes: 0 });
  });

  it('says so if no node is selected, and takes all labels off', async () => {
    await f.patchWatch('web', { spec: { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'nobody' } } } });
    await expectLabels({});
    const message = 'spec.nodeSelector selects no node: no node is judged, and pods may run on any node';
    await vi.waitFor(async () => {
      const conditions = (await f.watch('web')).status?.conditions ?? [];
      const of = (type: string) => conditions.find((condition) => condition.type === type);
      expect(of('Ready')).toMatchObject({ status: 'True', message });
      expect(of('MetricsAvailable')).toMatchObject({ status: 'True', reason: 'NoNodeSelected', message });
    }, WAIT);
  });

  it('labels all nodes once the selector is gone', async () => {
    await f.patchWatch('web', { spec: { nodeSelector: null } });
    await expectLabels({ cp1: 'true', cp2: 'true', n1: 'true', n2: 'false' });
  });

  it('takes every label off when the TrafficWatch is deleted, whatever its selector was', async () => {
    await f.patchWatch('web', { spec: { nodeSelector: WORKERS } });
    await f.deleteWatch('web');
    await expectLabels({});
    await vi.waitFor(() => expect(f.watch('web')).rejects.toSatisfy(isNotFound), WAIT);
  });
});

describe('the API server', () => {
  const expression = (requirement: object) => ({ matchExpressions: [requirement] });

  it.each<[selector: object, message: RegExp]>([
    [expression({ key: 'zone', operator: 'In' }), /nodeSelector.*values must have at least one value/],
    [expression({ key: 'zone', operator: 'Exists', values: ['a'] }), /nodeSelector.*values must be empty/],
    [expression({ key: 'zone', operator: 'Has' }), /nodeSelector.*operator.*"Has".*"In"/],
    [expression({ key: 'a b', operator: 'Exists' }), /nodeSelector.*key.*must be a label key/],
    [expression({ key: KEY, operator: 'Exists' }), /nodeSelector.*key.*must not end in/],
    [expression({ key: 'zone', operator: 'In', values: ['a b'] }), /nodeSelector.*values.*must be a label value/],
    [{ matchLabels: { zone: 'a b' } }, /nodeSelector.*matchLabels.*must be a label value/],
    [{ matchLabels: { 'a b': 'c' } }, /nodeSelector.*matchLabels.*each key must be a label key/],
    [{ matchLabels: { [KEY]: 'true' } }, /nodeSelector.*matchLabels.*each key must not end in/],
  ])('refuses %j, and says what is allowed', async (nodeSelector, message) => {
    const spec = { maxBandwidthPercent: '10', nodeSelector: nodeSelector as LabelSelector };
    await expect(f.createWatch('refused', spec)).rejects.toMatchObject({
      message: expect.stringMatching(message) as string,
    });
  });
});
