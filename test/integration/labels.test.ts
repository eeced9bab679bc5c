import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LabelSelector } from '../../src/api/labelSelector.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import type { InformerEvent } from '../../src/runtime/cache/informer.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { writesOf } from '../harness/audit.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { measured } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Which nodes have the label: the nodes of spec.nodeSelector, by the audit log; what another client writes does not stay, and what an
 * admission policy refuses keeps no other label off.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = unfitKey('web');
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const WORKERS: LabelSelector = { matchExpressions: [{ key: CONTROL_PLANE, operator: 'DoesNotExist' }] };
const OPERATOR = 'operator-under-test';
const REFUSED = unfitKey('refused');
const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const POLICIES: Resource = {
  ...{ ...ADMISSION, kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies' },
};
const BINDINGS: Resource = {
  ...{ ...ADMISSION, kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings' },
};
const WORDS = 'nodes do not get this label';

let f: Fixture;
let connected: Connected;
let unfollow: () => Promise<void>;
/** True while another client changes the label of n2 back at once. */
let isFighting = false;
/** How often the operator has corrected it. */
let corrections = 0;

beforeAll(async () => {
  f = await startFixture({ nodes: ['cp1', 'cp2', 'n1', 'n2'] });
  connected = connect(f.controlPlane);
  for (const node of ['cp1', 'cp2']) {
    await f.setLabels(node, { [CONTROL_PLANE]: '' });
    f.exporter.setPercent(node, 90);
  }
  f.exporter.setPercent('n1', 60);
  unfollow = await follow(f.controlPlane, NODES, rival);
  await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
  await f.createWatch('web', { maxBandwidthPercent: '10', nodeSelector: WORKERS });
});
afterAll(async () => {
  await unfollow();
  await connected.transport.close();
  await f.stop();
});

function rival(event: InformerEvent<V1Node>): void {
  if (!isFighting || event.object.metadata?.name !== 'n2' || event.type === 'delete') return;
  const value = event.object.metadata.labels?.[KEY];
  if (value === 'true') return;
  corrections++;
  // `corrections` says whether it fought. A write may conflict, or come after the end of the test.
  spoil().catch(() => undefined);
}

const spoil = (): Promise<unknown> =>
  connected.client.mergePatch(
    NODES,
    { name: 'n2' },
    { metadata: { labels: { [KEY]: 'true' } } },
    { fieldManager: 'rival' },
  );

async function expectLabels(labels: Record<string, string>): Promise<void> {
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual(labels), WAIT);
}

async function expectCounts(fitNodes: number, unfitNodes: number): Promise<void> {
  const counts = { fitNodes, unfitNodes, unknownNodes: 0, ready: true };
  await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject(counts), WAIT);
}

/** The nodes that the operator has written, each once. */
function writtenNodes(): string[] {
  const writes = writesOf(f.controlPlane, OPERATOR).filter(({ resource }) => resource === 'nodes');
  return [...new Set(writes.map(({ name }) => name))].sort();
}

const reconciling = async () => (await f.watch('web')).status?.conditions?.find(({ type }) => type === 'Reconciling');
const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total');

describe('a selector that leaves out the control plane', () => {
  it('labels and counts the other nodes only', async () => {
    await expectLabels({ n1: 'true', n2: 'false' });
    await expectCounts(1, 1);
    await vi.waitFor(() => expect(writtenNodes()).toEqual(['n1', 'n2']), WAIT);
  });

  it('takes the label off a node that leaves the selection, and labels it again when it is back', async () => {
    await f.setLabels('n1', { [CONTROL_PLANE]: '' });
    await expectLabels({ n2: 'false' });
    await expectCounts(1, 0);
    await f.setLabels('n1', { [CONTROL_PLANE]: null });
    await expectLabels({ n1: 'true', n2: 'false' });
  });

  it('leaves a label that a person wrote on a node outside, and no other', async () => {
    await f.setLabels('cp1', { [CONTROL_PLANE]: null });
    await expectLabels({ cp1: 'true', n1: 'true', n2: 'false' });
    await f.setLabels('cp2', { [KEY]: 'true' });
    await f.setLabels('cp1', { [CONTROL_PLANE]: '' });
    await expectLabels({ cp2: 'true', n1: 'true', n2: 'false' });
    // The API server logs a write after its answer.
    await vi.waitFor(() => expect(writtenNodes()).toEqual(['cp1', 'n1', 'n2']), WAIT);
    await f.setLabels('cp2', { [KEY]: null });
  });
});

/** Creates a policy that refuses the label of the TrafficWatch `refused`, and awaits that the API server enforces it. */
async function refuseLabel(): Promise<void> {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['nodes'] };
  const validation = { expression: `!('${REFUSED}' in object.metadata.?labels.orValue({}))`, message: WORDS };
  const policy = {
    metadata: { name: 'labels' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [validation] },
  };
  const binding = { metadata: { name: 'labels' }, spec: { policyName: 'labels', validationActions: ['Deny'] } };
  await connected.client.create(POLICIES, policy);
  await connected.client.create(BINDINGS, binding);
  await vi.waitFor(() => expect(f.setLabels('cp2', { [REFUSED]: 'true' })).rejects.toThrow(WORDS), WAIT);
  await f.setLabels('cp2', { [REFUSED]: null });
}

describe('an admission policy that refuses the label of one TrafficWatch', () => {
  it('keeps no other label off: the TrafficWatch has the words of the policy, and its labels once they are allowed', async () => {
    await refuseLabel();
    await f.createWatch('refused', { maxBandwidthPercent: '10', nodeSelector: WORKERS });
    await vi.waitFor(async () => {
      const conditions = (await f.watch('refused')).status?.conditions ?? [];
      const refused = conditions.find(({ type }) => type === 'Reconciling');
      expect(refused).toMatchObject({ status: 'True', reason: 'WriteRefused' });
      expect(refused?.message).toContain(WORDS);
      const ready = conditions.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({ status: 'False', reason: 'WriteRefused' });
    }, WAIT);
    f.exporter.setPercent('n2', 60);
    await expectLabels({ n1: 'true', n2: 'true' });
    f.exporter.setPercent('n2', 0);
    await expectLabels({ n1: 'true', n2: 'false' });
    expect(await f.labels(REFUSED)).toEqual({});
    await connected.client.delete(BINDINGS, { name: 'labels' });
    await vi.waitFor(async () => expect(await f.labels(REFUSED)).toEqual({ n1: 'true', n2: 'false' }), WAIT);
    await f.deleteWatch('refused');
    await vi.waitFor(async () => expect(await f.labels(REFUSED)).toEqual({}), WAIT);
  });
});

describe('another client that changes a label again and again', () => {
  it('causes a condition and one event with its name, and no write loop', async () => {
    const before = await passes();
    isFighting = true;
    await spoil();
    await vi.waitFor(async () => {
      expect(await reconciling()).toMatchObject({ status: 'True', reason: 'LabelContested' });
    }, WAIT);
    const told = `label ${KEY} of node n2 (by field manager "rival")`;
    expect((await reconciling())?.message).toContain(told);
    expect(corrections).toBeLessThanOrEqual((await passes()) - before + 1);
    const contested = { corrections, passes: await passes() };
    await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(contested.passes + 10), WAIT);
    const took = { corrections: corrections - contested.corrections, passes: (await passes()) - contested.passes };
    measured(`${took.corrections} corrections in ${took.passes} passes, once the fight is known`);
    // After 2, 4 and 8 passes: at most three in the first 14.
    expect(took.corrections).toBeLessThan(took.passes / 2);
    const events = (await f.events('web')).filter(({ reason }) => reason === 'LabelContested');
    expect(events.map(({ type, series }) => [type, series?.count ?? 1])).toEqual([['Warning', 1]]);
    expect(events[0]?.note).toContain(told);
    expect((await f.labels(KEY)).n1).toBe('true');
  });

  it('and then stops: the label is corrected, and the condition clears', async () => {
    isFighting = false;
    await expectLabels({ n1: 'true', n2: 'false' });
    await vi.waitFor(async () => expect(await reconciling()).toMatchObject({ status: 'False' }), WAIT);
  });
});

describe('the selection', () => {
  it('may be none, which is said, and all labels go', async () => {
    await f.patchWatch('web', { spec: { nodeSelector: { matchLabels: { none: '' }, matchExpressions: null } } });
    await expectLabels({});
    await vi.waitFor(async () => {
      const conditions = (await f.watch('web')).status?.conditions ?? [];
      const available = conditions.find(({ type }) => type === 'MetricsAvailable');
      expect(available).toMatchObject({ status: 'True', reason: 'NoNodeSelected' });
    }, WAIT);
  });

  it('is all nodes without a selector; with the TrafficWatch, every label goes, whatever its selector is then', async () => {
    await f.patchWatch('web', { spec: { nodeSelector: null } });
    await expectLabels({ cp1: 'true', cp2: 'true', n1: 'true', n2: 'false' });
    await f.patchWatch('web', { spec: { nodeSelector: WORKERS } });
    await f.deleteWatch('web');
    await expectLabels({});
    await vi.waitFor(() => expect(f.watch('web')).rejects.toSatisfy(isNotFound), WAIT);
  });
});
