import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { binary } from '../lab/binaries.ts';

/** `kubectl delete -k deploy` before the clean-up, on a real API server, and what mends it. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMESPACE = 'traffic-operator-system';
const CRD = 'crd/trafficwatches.traffic.example.com';
const UNFIT = 'web.traffic.example.com/unfit';
const WAIT = { timeout: 60_000, interval: 300 };
const run = promisify(execFile);

let f: Fixture;

async function kubectl(args: readonly string[], input?: object): Promise<string> {
  const running = run(await binary('kubectl'), [`--kubeconfig=${f.controlPlane.kubeconfig}`, ...args]);
  running.child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
  return (await running).stdout;
}

/** What a namespace controller would do, once the namespace is empty. */
async function finalizeNamespace(): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE }, spec: { finalizers: [] } };
  await kubectl(['replace', '--raw', `/api/v1/namespaces/${NAMESPACE}/finalize`, '-f-'], namespace);
}

/** Runs the clean-up with the arguments and the rights of its Job, which nobody runs here. */
async function runJob(): Promise<void> {
  const where = ['-n', NAMESPACE];
  const args = await kubectl([
    'get',
    'job/traffic-operator-cleanup',
    ...where,
    '-ojsonpath={.spec.template.spec.containers[0].args}',
  ]);
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
  const command = [`${ROOT}src/main.ts`, ...(JSON.parse(args) as string[]), `--kubeconfig=${kubeconfig}`];
  await run(process.execPath, command, { timeout: 90_000 });
}

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  await kubectl(['apply', '-k', `${ROOT}deploy`]);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await f.startOperator(['--leader-elect', `--namespace=${NAMESPACE}`]);
  await vi.waitFor(async () => expect(await f.labels(UNFIT)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
  await f.stopOperator();
});
afterAll(() => f.stop());

it('the clean-up ends a deletion that hangs, when it is run afterwards', async () => {
  await kubectl(['delete', '-k', `${ROOT}deploy`, '--wait=false']);
  await finalizeNamespace();
  await kubectl(['wait', CRD, '--for=condition=Terminating', '--timeout=30s']);
  expect((await f.watch('web')).metadata?.finalizers).not.toEqual([]);
  expect(await f.labels(UNFIT)).toEqual({ n1: 'false', n2: 'false' });

  await kubectl(['apply', '-f', `${ROOT}deploy/namespace.yaml`]);
  await kubectl(['apply', '-k', `${ROOT}deploy/cleanup`]);
  await runJob();

  await kubectl(['wait', CRD, '--for=delete', '--timeout=60s']);
  expect(await f.labels(UNFIT)).toEqual({});
});
