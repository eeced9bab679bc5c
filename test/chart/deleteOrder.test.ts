import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { kubectl as runKubectl } from '../harness/kubectl.ts';
import { operatorMain } from '../harness/operatorMain.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Deletes the objects of `kubectl apply -k` in every order, with a TrafficWatch that has labels: on a real API
 * server, with the controller that empties namespaces. The Job's command runs here, with the rights of the Job.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'traffic-operator-system';
const EXPORTER_NAMESPACE = `${NAMESPACE}-node-exporter`;
const CLEANUP_NAMESPACE = 'traffic-operator-cleanup';
const CRD = 'crd/trafficwatches.traffic.example.com';
const UNFIT = unfitKey('web');
const LABELLED = { n1: 'false', n2: 'false' };
const CLUSTER_KINDS =
  'clusterroles,clusterrolebindings,flowschemas,validatingadmissionpolicies,validatingadmissionpolicybindings';
const WAIT = { timeout: 120_000, interval: 300 };
const run = promisify(execFile);

let f: Fixture;
let controllers: RunningProcess;

async function kubectl(args: readonly string[], input?: object): Promise<string> {
  return runKubectl(f.controlPlane, args, input);
}

const apply = (directory: string): Promise<string> =>
  kubectl(['apply', '--server-side', '-k', `${ROOT}deploy/${directory}`]);
/** Waits until everything is gone, as kubectl does by itself, but not for ever. */
const remove = (directory: string): Promise<string> =>
  kubectl(['delete', '-k', `${ROOT}deploy/${directory}`, '--timeout=240s']);
const names = async (...args: string[]): Promise<string[]> =>
  (await kubectl(['get', ...args, '-oname'])).split('\n').filter(Boolean);

async function isClean(): Promise<void> {
  expect(await f.labels(UNFIT)).toEqual({});
  expect((await f.watch('web')).metadata?.finalizers ?? []).toEqual([]);
}

async function nothingIsLeft(): Promise<void> {
  expect(await f.labels(UNFIT)).toEqual({});
  expect(await names(CLUSTER_KINDS, '-lapp.kubernetes.io/part-of=traffic-operator')).toEqual([]);
  // Deletion of the exporter's namespace is asked for, not waited for.
  await vi.waitFor(async () => expect((await names('crd,ns')).join()).not.toContain('traffic'), WAIT);
}

/** Runs the clean-up with the arguments and the rights of its Job, which nobody runs here. */
async function runJob(): Promise<void> {
  const where = ['-n', CLEANUP_NAMESPACE];
  const path = '-ojsonpath={.spec.template.spec.containers[0].args}';
  const args = await kubectl(['get', 'job/traffic-operator-cleanup', ...where, path]);
  const token = (await kubectl(['create', 'token', 'traffic-operator-cleanup', ...where])).trim();
  const { directory, url } = f.controlPlane;
  const config = {
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': join(directory, 'ca.crt') } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const kubeconfig = join(directory, 'cleanup.kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(config));
  const command = [operatorMain(), ...(JSON.parse(args) as string[]), `--kubeconfig=${kubeconfig}`];
  await run(process.execPath, command, { timeout: 180_000 });
}

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'], crd: 'none' });
  const { kubeconfig, directory } = f.controlPlane;
  const flags = [`--kubeconfig=${kubeconfig}`, '--controllers=namespace-controller', '--leader-elect=false'];
  const program = await binary('kube-controller-manager');
  controllers = start(program, [...flags, '--secure-port=0'], `${directory}/controllers.log`);
});
afterAll(async () => {
  await controllers.stop();
  await f.stop();
});

/**
 * Resolves once the API server has read the objects of each CRD. If a CRD is deleted before that, its finalizer (customresourcecleanup)
 * fails with "storage is (re)initializing", and may then not be tried again for five minutes: the retry is overtaken by the
 * finalizer's own write of the failure (crd_finalizer.go of Kubernetes 1.36).
 */
async function whenServed(): Promise<void> {
  for (const crd of await names('crd')) {
    const [, kind = ''] = crd.split('/');
    await vi.waitFor(() => names(kind), WAIT);
  }
}

beforeEach(async () => {
  await apply('crds');
  await whenServed();
  await apply('');
  const labels = { 'app.kubernetes.io/managed-by': 'traffic-operator' };
  await kubectl(['create', '-f-'], {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: EXPORTER_NAMESPACE, labels },
  });
  await f.startOperator(['--leader-elect', `--namespace=${NAMESPACE}`]);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(UNFIT)).toEqual(LABELLED), WAIT);
  await f.stopOperator();
});
// The garbage collector's, which does not run here.
afterEach(() => kubectl(['delete', 'deployment/web', '--ignore-not-found']));

it('as documented: the clean-up, the operator, the CRD', async () => {
  await apply('cleanup');
  await runJob();
  await isClean();
  await remove('cleanup');
  // The operator's namespace is not the clean-up's to delete.
  expect(await names('deployments', '-n', NAMESPACE)).toEqual([
    'deployment.apps/traffic-operator',
    'deployment.apps/traffic-operator-weights',
  ]);
  await remove('');
  await remove('crds');
  await nothingIsLeft();
});

it('the operator first: its deletion does not hang, and the clean-up works afterwards', async () => {
  await remove('');
  expect(await names('ns')).not.toContain(`namespace/${NAMESPACE}`);
  expect(await f.labels(UNFIT)).toEqual(LABELLED);
  expect((await f.watch('web')).metadata?.finalizers).toHaveLength(1);

  await apply('cleanup');
  await runJob();
  await isClean();
  await remove('cleanup');
  await remove('crds');
  await nothingIsLeft();
});

it('the operator and the CRD first: the clean-up ends what waits for it', async () => {
  await remove('');
  const removed = remove('crds');
  await kubectl(['wait', CRD, '--for=condition=Terminating', '--timeout=120s']);

  await apply('cleanup');
  await runJob();
  await removed;
  await remove('cleanup');
  await nothingIsLeft();
});

it('the clean-up works while the operator’s namespace is still being deleted', async () => {
  const stays = { name: 'stays', namespace: NAMESPACE, finalizers: ['example.com/stays'] };
  await kubectl(['create', '-f-'], { apiVersion: 'v1', kind: 'ConfigMap', metadata: stays });
  await kubectl(['delete', '-k', `${ROOT}deploy`, '--wait=false']);
  await vi.waitFor(async () => expect(await names('leases,deployments', '-n', NAMESPACE)).toEqual([]), WAIT);

  await apply('cleanup');
  await runJob();
  await isClean();
  await kubectl(['patch', 'cm/stays', '-n', NAMESPACE, '--type=merge', '-p{"metadata":{"finalizers":null}}']);
  await remove('cleanup');
  await remove('crds');
  await nothingIsLeft();
});
