import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Client } from '../../src/runtime/client/client.ts';
import { DEPLOYMENTS, NAMESPACES, NODES, PODS } from '../../src/runtime/client/resources.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { installCrd } from '../harness/customResource.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { connect } from '../harness/runtimeScene.ts';
import { operatorMain } from '../harness/operatorMain.ts';

/**
 * The clean-up while a pod of the operator never ends: this API server has no kubelets, so a deleted pod stays, as on a
 * node that is switched off.
 */
const NAME = 'traffic-operator';
const LABELS = { app: NAME };
const ARGS = ['manager', '--leader-elect'];
const PERSON = { fieldManager: 'person' };
const WAIT = { timeout: 120_000, interval: 100 };

let plane: ControlPlane;
let client: Client;
let close: () => Promise<void>;
/** The namespace of the operator: each test has its own. */
let namespace: string;
let tests = 0;

beforeAll(async () => {
  plane = await startControlPlane();
  const { client: connected, transport } = connect(plane);
  client = connected;
  close = () => transport.close();
  await installCrd(client);
  await client.create(NODES, { metadata: { name: 'n1' } });
});
beforeEach(async () => {
  namespace = `operator-${++tests}`;
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  await client.create(DEPLOYMENTS, deployment());
  await client.create(PODS, pod());
  // Done by the ReplicaSet controller once the replicas are 0.
  await client.delete(PODS, { namespace, name: 'operator' });
});
afterAll(async () => {
  await close();
  await plane.stop();
});

const podSpec = {
  containers: [{ name: 'manager', image: 'operator:1', args: ARGS }],
  terminationGracePeriodSeconds: 1,
};

function deployment(): V1Deployment {
  const template = { metadata: { labels: LABELS }, spec: podSpec };
  const spec = { replicas: 2, selector: { matchLabels: LABELS }, template };
  return { metadata: { namespace, name: NAME }, spec };
}

function pod(): V1Pod {
  return { metadata: { namespace, name: 'operator', labels: LABELS }, spec: { ...podSpec, nodeName: 'n1' } };
}

async function heartbeat(status: 'True' | 'Unknown'): Promise<void> {
  const now = new Date().toISOString();
  const ready = { type: 'Ready', status, reason: 'Test', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
  const options = { ...PERSON, subresource: 'status' };
  await client.mergePatch(NODES, { name: 'n1' }, { status: { conditions: [ready] } }, options);
}

async function replicas(): Promise<number | undefined> {
  return (await client.get(DEPLOYMENTS, { namespace, name: NAME })).spec?.replicas;
}

/** Runs the clean-up as the chart's hook does. */
function startCleanup(): RunningProcess {
  const args = ['cleanup', `--namespace=${namespace}`, `--deployment=${NAME}`, `--kubeconfig=${plane.kubeconfig}`];
  return start(process.execPath, [operatorMain(), ...args], logFile());
}

const logFile = (): string => join(plane.directory, `cleanup-${namespace}.log`);
const log = (): string => readFileSync(logFile(), 'utf8');
const logs = (text: string): Promise<void> => vi.waitFor(() => expect(log()).toContain(text), WAIT);

it('does not wait for a pod on a node that is switched off', async () => {
  await heartbeat('Unknown');
  const cleanup = startCleanup();
  await logs('labels and finalizers are off');
  await cleanup.ended;
  expect(log()).toContain('not waiting for pods that have ended or are on a dead node');
  expect(await replicas()).toBe(0);
});

it('waits for a pod on a node that answers, says for which, and starts the operator again when it is cut off', async () => {
  await heartbeat('True');
  const cleanup = startCleanup();
  await logs('waiting for the pods of the operator to end');
  expect(log()).toContain('operator on n1');
  expect(await replicas()).toBe(0);
  // As a Job at its deadline does. The kubelet does not wait longer than the pod's grace period.
  process.kill(cleanup.pid, 'SIGTERM');
  await cleanup.ended;
  expect(log()).not.toContain('labels and finalizers are off');
  expect(log()).toContain('the operator runs again; run the uninstall again');
  expect(await replicas()).toBe(2);
});

it('restores the replicas after an earlier clean-up was killed', async () => {
  await heartbeat('True');
  const killed = startCleanup();
  await logs('waiting for the pods of the operator to end');
  await killed.stop();
  expect(await replicas()).toBe(0);
  rmSync(logFile());
  const next = startCleanup();
  await logs('waiting for the pods of the operator to end');
  process.kill(next.pid, 'SIGTERM');
  await next.ended;
  expect(await replicas()).toBe(2);
});
