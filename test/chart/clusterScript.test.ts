import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { carryOutCleanup, runClusterScript } from '../harness/clusterScript.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { allObjects, field, kubectl, kubeconfigOf } from '../harness/kubectl.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';
import { DEPLOY } from './cluster.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * scripts/cluster.sh, which `make install deploy undeploy uninstall` call, on a real API server with the controller that
 * empties namespaces. The operator and the clean-up run here, with the rights of their pods.
 */
/** Differs from the namespace of deploy/. */
const NAMESPACE = 'network';
const UNFIT = unfitKey('web');
const IMAGE = 'registry.example.com/traffic-operator:1';
const WAIT = { timeout: 120_000, interval: 300 };
const DEPLOYMENT = ['-n', NAMESPACE, 'deployment/traffic-operator'];
/** Addresses of the pod, for which a process here has others. */
const ADDRESSES = /^--(health-probe|metrics)-bind-address=/;

let f: Fixture;
let controllers: RunningProcess;
let before: string[];

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'], crd: 'none' });
  const { kubeconfig, directory } = f.controlPlane;
  const flags = [`--kubeconfig=${kubeconfig}`, '--controllers=namespace-controller', '--leader-elect=false'];
  const program = await binary('kube-controller-manager');
  controllers = start(program, [...flags, '--secure-port=0'], `${directory}/controllers.log`);
  before = await allObjects(f.controlPlane);
});
afterAll(async () => {
  await controllers.stop();
  await f.stop();
});

/**
 * Resolves once the API server reads the objects of each CRD: one that is deleted before may stay for five minutes, see
 * deleteOrder.test.ts.
 */
async function whenServed(): Promise<void> {
  const crds = await kubectl(f.controlPlane, ['get', 'crd', '-ojsonpath={.items[*].metadata.name}']);
  for (const crd of crds.split(' ')) await vi.waitFor(() => kubectl(f.controlPlane, ['get', crd, '-A']), WAIT);
}

it('deploys the operator with another image, and with the placement policy', async () => {
  await runClusterScript(f.controlPlane, 'install');
  await whenServed();
  await runClusterScript(f.controlPlane, 'deploy', { IMG: IMAGE, NAMESPACE });
  expect(await field(f.controlPlane, DEPLOYMENT, '.spec.template.spec.containers[0].image')).toBe(IMAGE);
  expect(await kubectl(f.controlPlane, ['get', 'mutatingadmissionpolicies', '-oname'])).toContain('traffic-operator');
  // A second time, over what is there.
  await runClusterScript(f.controlPlane, 'deploy', { NAMESPACE });
  expect(await field(f.controlPlane, DEPLOYMENT, '.spec.template.spec.containers[0].image')).toMatch(
    /^traffic-operator:/,
  );
});

/** The rights of stacks of users, as the README says. */
const stackRights = (): string =>
  readFileSync(join(DEPLOY, 'stacks/rights.yaml'), 'utf8').replaceAll('traffic-operator-system', NAMESPACE);

async function allowStacks(): Promise<void> {
  await kubectl(f.controlPlane, ['apply', '-f-'], stackRights());
  await kubectl(f.controlPlane, ['create', 'namespace', 'shop']);
  const bound = [
    `--clusterrole=${NAMESPACE}-traffic-operator-stacks`,
    `--serviceaccount=${NAMESPACE}:traffic-operator`,
  ];
  await kubectl(f.controlPlane, ['create', 'rolebinding', 'stacks', '-n', 'shop', ...bound]);
}

/** The operator as its pod is started, with the rights of its pod. */
async function startDeployed(over: { prometheusUrl?: undefined } = {}, ...more: readonly string[]): Promise<void> {
  const kubeconfig = await kubeconfigOf(f.controlPlane, 'traffic-operator', NAMESPACE);
  const args = await field(f.controlPlane, DEPLOYMENT, '.spec.template.spec.containers[0].args');
  const [command, ...flags] = JSON.parse(args) as string[];
  expect(command).toBe('manager');
  const ofPod = flags.filter((flag) => !ADDRESSES.test(flag));
  // As the window of the harness needs it.
  await f.startOperator([...ofPod, ...more, '--scrape-interval=1s'], { kubeconfig, ...over });
}

/** The same for DNS weights. */
async function startWeights(): Promise<Operator> {
  const name = 'traffic-operator-weights';
  const kubeconfig = await kubeconfigOf(f.controlPlane, name, NAMESPACE);
  const deployment = ['-n', NAMESPACE, `deployment/${name}`];
  const args = await field(f.controlPlane, deployment, '.spec.template.spec.containers[0].args');
  const [command, ...flags] = JSON.parse(args) as string[];
  expect(command).toBe('trafficweights');
  const ofPod = flags.filter((flag) => !ADDRESSES.test(flag));
  return startOperator({
    kubeconfig,
    args: ofPod,
    prometheusUrl: undefined,
    command: 'trafficweights',
    until: 'alive',
  });
}

const readiness = (object: string): Promise<string> =>
  field(f.controlPlane, [object], '.status.conditions[?(@.type=="Ready")].status');

it('deploys an operator that acts on each kind whose CRD is installed: nothing is ignored, and nothing refused', async () => {
  await allowStacks();
  await startDeployed({ prometheusUrl: undefined }, '--stacks=true', '--stack-namespace=shop');
  const weights = await startWeights();
  for (const sample of ['trafficstack', 'trafficweight'])
    await kubectl(f.controlPlane, ['apply', '-f', join(DEPLOY, 'samples', `${sample}.yaml`)]);
  await vi.waitFor(async () => {
    // No pod runs here.
    expect(await readiness('trafficstack/shop')).toBe('False');
    expect(await kubectl(f.controlPlane, ['get', 'sts,ds', '-n', 'shop', '-oname'])).toContain('statefulset.apps/db');
    // What the operator measures with.
    expect(await readiness('trafficstack/default')).toBe('False');
    // Nor does the CRD of external-dns.
    expect(await readiness('trafficweight/main')).toBe('False');
  }, WAIT);
  const log = `${f.operator().log()}\n${weights.log()}`;
  await f.stopOperator();
  await weights.terminate();
  expect(log.split('\n').filter((line) => /forbidden|"status":403/i.test(line))).toEqual([]);
});

it('removes it, and what the operator has made', async () => {
  await startDeployed();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(UNFIT)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
  await f.stopOperator();

  await Promise.all([runClusterScript(f.controlPlane, 'undeploy', { NAMESPACE }), carryOutCleanup(f.controlPlane)]);
  expect(await f.labels(UNFIT)).toEqual({});
  // The stack is not held by its finalizer, and its workloads run until it is deleted.
  expect(await field(f.controlPlane, ['trafficstack/shop'], '.metadata.finalizers')).toBe('');
  expect(await kubectl(f.controlPlane, ['get', 'sts', '-n', 'shop', '-oname'])).toContain('statefulset.apps/db');
  await runClusterScript(f.controlPlane, 'uninstall');
  await kubectl(f.controlPlane, ['delete', '--ignore-not-found', '-f-'], stackRights());
  // The garbage collector's, which does not run here.
  await kubectl(f.controlPlane, ['delete', 'deployment/web', 'namespace/shop']);
  await vi.waitFor(async () => expect(await allObjects(f.controlPlane)).toEqual(before), WAIT);
});

it('says what is missing without OLM, and how it is called', async () => {
  await expect(runClusterScript(f.controlPlane, 'olm-deploy')).rejects.toThrow(
    /OLM is not installed: make olm-install/,
  );
  await expect(runClusterScript(f.controlPlane, 'unknown')).rejects.toThrow(/cluster\.sh olm-undeploy/);
});
