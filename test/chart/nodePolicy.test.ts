import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Manifest } from '../../scripts/chart/helm.ts';
import { start } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';
import { CHART, type Cluster, startCluster } from './cluster.ts';
import { NODE, OTHER, OWN, REFUSED, TAINT, labels } from './nodeChanges.ts';
import type { Answer, Send } from './sender.ts';

/** Tests the changes of Nodes with a stolen token of the operator's ServiceAccount, on a real API server with the chart's objects. */
const NAMESPACE = 'network';
const RELEASE = ['traffic-operator', CHART, '-n', NAMESPACE];
const POLICY = 'network-traffic-operator-nodes';
/** The API server compiles a policy soon after it was written, and reads them again every second or so. */
const WAIT = { timeout: 120_000, interval: 250 };

let cluster: Cluster;
let admin: Send;
/** With the token of the operator, of the clean-up, of a program that the chart knows nothing of. */
let operator: Send;
let cleanup: Send;
let stranger: Send;
let policy: Manifest;
let kubectl: Cluster['kubectl'];

const N1 = '/api/v1/nodes/n1';
const DRY = `${N1}?dryRun=All`;
const DONE: Answer = { status: 200, message: '' };
const refusal = (told: string): Answer => ({
  status: 403,
  message: expect.stringMatching(new RegExp(`${POLICY}.* labels .*end in \\S+/unfit: ${told}$`)) as string,
});
beforeAll(async () => {
  cluster = await startCluster();
  kubectl = cluster.kubectl;
  expect(await cluster.helm('helm', 'install', ...RELEASE, '--create-namespace')).toMatchObject({ ok: true });

  admin = await cluster.admin();
  expect(await admin('POST', '/api/v1/nodes', NODE)).toMatchObject({ status: 201 });
  for (const name of ['traffic-operator-cleanup', 'stranger']) {
    await kubectl(['create', 'serviceaccount', name, '-n', NAMESPACE]);
    await grant(name, 'network-traffic-operator', name);
  }
  [operator, cleanup, stranger] = await Promise.all([
    cluster.account(NAMESPACE, 'traffic-operator'),
    cluster.account(NAMESPACE, 'traffic-operator-cleanup'),
    cluster.account(NAMESPACE, 'stranger'),
  ]);
  policy = JSON.parse((await kubectl(['get', 'validatingadmissionpolicy', POLICY, '-ojson'])).text) as Manifest;
  await vi.waitFor(async () => expect(await operator('PATCH', DRY, labels({ x: 'y' }))).toEqual(refusal('x')), WAIT);
});
afterAll(() => cluster.stop());

async function grant(binding: string, role: string, serviceAccount: string): Promise<void> {
  const args = [`--clusterrole=${role}`, `--serviceaccount=${NAMESPACE}:${serviceAccount}`];
  expect(await kubectl(['create', 'clusterrolebinding', binding, ...args])).toMatchObject({ ok: true });
}

describe('with a stolen token of the operator', () => {
  it.each(REFUSED)('%s is refused, and the message says what was wrong', async (_what, change, told) => {
    expect(await operator('PATCH', N1, change)).toEqual(refusal(told));
  });

  it.each<[string, object, string]>([
    ['json-patch+json', [{ op: 'add', path: '/spec/unschedulable', value: true }], 'spec'],
    ['strategic-merge-patch+json', { spec: TAINT }, 'spec'],
    ['json-patch+json', [{ op: 'remove', path: '/metadata/labels' }], 'kubernetes.io/hostname'],
  ])('a change is refused in a %s, too', async (type, change, told) => {
    expect(await operator('PATCH', N1, change, type)).toEqual(refusal(told));
  });

  it('a change is refused by server-side apply, too', async () => {
    const apply = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: TAINT };
    expect(await operator('PATCH', `${N1}?fieldManager=x&force=true`, apply, 'apply-patch+yaml')).toEqual(
      refusal('spec'),
    );
  });

  it.each<[string, string, string, object | undefined]>([
    ['patch resource "nodes/status"', 'PATCH', `${N1}/status`, { status: { phase: 'Running' } }],
    ['update resource "nodes"', 'PUT', N1, NODE],
    ['create resource "nodes"', 'POST', '/api/v1/nodes', { ...NODE, metadata: { name: 'n2' } }],
    ['delete resource "nodes"', 'DELETE', N1, undefined],
    ['get resource "nodes/proxy"', 'GET', `${N1}/proxy/`, undefined],
  ])('RBAC already refuses to %s', async (told, method, path, body) => {
    const message = expect.stringContaining(`:traffic-operator" cannot ${told} in API group`) as string;
    expect(await operator(method, path, body)).toEqual({ status: 403, message });
  });

  it('its own labels are set, changed and removed, also several at once', async () => {
    const steps: Record<string, string | null>[] = [
      { [OWN]: 'true' },
      { [OWN]: 'false' },
      { [OWN]: 'true', [OTHER]: 'true' },
      { [OWN]: null },
    ];
    for (const change of steps) {
      expect(await operator('PATCH', `${N1}?fieldManager=traffic-operator-trafficwatch`, labels(change))).toEqual(DONE);
    }
    const left = await kubectl(['get', 'node', 'n1', '-ojsonpath={.metadata.labels}']);
    expect(JSON.parse(left.text)).toEqual({ 'kubernetes.io/hostname': 'n1', [OTHER]: 'true' });
  });

  it('the first labels of a Node that has none are set, and the last are removed', async () => {
    await admin('POST', '/api/v1/nodes', { metadata: { name: 'bare' } });
    for (const value of ['true', null]) {
      expect(await operator('PATCH', '/api/v1/nodes/bare', labels({ [OWN]: value }))).toEqual(DONE);
    }
  });
});

describe('the policy', () => {
  it('holds the clean-up to the same', async () => {
    expect(await cleanup('PATCH', N1, labels({ [OWN]: 'true' }))).toEqual(DONE);
    expect(await cleanup('PATCH', N1, labels({ [OWN]: null }))).toEqual(DONE);
    expect(await cleanup('PATCH', N1, { spec: TAINT })).toEqual(refusal('spec'));
  });

  it('touches nobody else, neither people nor programs', async () => {
    for (const as of [admin, stranger]) {
      for (const [what, change] of REFUSED) {
        expect({ what, ...(await as('PATCH', DRY, change)) }).toEqual({ what, ...DONE });
      }
    }
  });

  it('has no fault that the type checker finds', async () => {
    const controllers = '--controllers=validatingadmissionpolicy-status-controller';
    const args = [`--kubeconfig=${cluster.kubeconfig}`, controllers, '--leader-elect=false', '--secure-port=0'];
    const checker = start(await binary('kube-controller-manager'), args, `${cluster.directory}/checker.log`);
    const checked = async (): Promise<unknown> => {
      checker.check();
      return JSON.parse((await kubectl(['get', 'validatingadmissionpolicy', POLICY, '-ojsonpath={.status}'])).text);
    };
    await vi.waitFor(async () => expect(await checked()).toHaveProperty('observedGeneration'), WAIT);
    expect(await checked()).toEqual({ observedGeneration: 1, typeChecking: {} });
    await checker.stop();
  });
});

describe('where somebody gave the operator every right', () => {
  beforeAll(async () => {
    await grant('too-much', 'cluster-admin', 'traffic-operator');
    await vi.waitFor(async () => expect((await operator('GET', N1)).status).toBe(200), WAIT);
  });
  afterAll(() => kubectl(['delete', 'clusterrolebinding', 'too-much']));

  it.each<[string, string, string, object | undefined]>([
    ['DELETE of nodes', 'DELETE', N1, undefined],
    ['UPDATE of nodes/status', 'PATCH', `${N1}/status`, { status: { phase: 'Running' } }],
    ['CREATE of nodes', 'POST', '/api/v1/nodes', { metadata: { name: 'n2' } }],
    ['CONNECT of nodes/proxy', 'GET', `${N1}/proxy/`, undefined],
    ['spec', 'PATCH', N1, { spec: TAINT }],
  ])('the policy still refuses: %s', async (told, method, path, body) => {
    expect(await operator(method, path, body)).toEqual(refusal(told));
  });

  const CLAUSES: [string, string, object | undefined, string][] = [
    ['what is done', 'DELETE', undefined, 'DELETE of nodes'],
    ['fields', 'PATCH', { spec: TAINT }, 'spec'],
    ['metadata', 'PATCH', { metadata: { annotations: { x: 'y' } } }, 'metadata.annotations'],
    ['labels', 'PATCH', labels({ x: 'y' }), 'x'],
  ];

  it.each(CLAUSES.map((row, index) => [index, ...row] as const))(
    'no clause of the policy is idle: without number %i, on %s, nothing else refuses',
    async (index, _what, method, body, told) => {
      const validations = (policy.spec as { validations: object[] }).validations;
      expect(validations).toHaveLength(CLAUSES.length);
      const settle = async (rest: object[], answer: Answer): Promise<void> => {
        const change = JSON.stringify({ spec: { validations: rest } });
        await kubectl(['patch', 'validatingadmissionpolicy', POLICY, '--type=merge', '-p', change]);
        await vi.waitFor(async () => expect(await operator(method, DRY, body)).toEqual(answer), WAIT);
      };
      await settle(
        validations.filter((_each, position) => position !== index),
        DONE,
      );
      await settle(validations, refusal(told));
    },
  );
});

describe('the notes', () => {
  it('say so where the policy is left out', async () => {
    const notes = async (...args: string[]): Promise<string> =>
      (await cluster.helm('helm', 'upgrade', ...RELEASE, ...args)).text;
    expect(await notes()).not.toContain('RBAC allows the operator');
    expect(await notes('--set', 'nodePolicy.enabled=false')).toContain('RBAC allows the operator');
    await vi.waitFor(async () => expect(await operator('PATCH', DRY, labels({ x: 'y' }))).toEqual(DONE), WAIT);
  });
});
