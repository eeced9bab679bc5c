import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { carryOutCleanup, runClusterScript } from '../harness/clusterScript.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { allObjects, field, kubectl, kubeconfigOf } from '../harness/kubectl.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';

/**
 * scripts/cluster.sh, which `make install deploy undeploy uninstall` call, on a real API server with the controller that
 * empties namespaces. The operator and the clean-up run here, with the rights of their pods.
 */
/** Another one than that of deploy/. */
const NAMESPACE = 'network';
const UNFIT = 'web.traffic.example.com/unfit';
const IMAGE = 'registry.example.com/traffic-operator:1';
const WAIT = { timeout: 60_000, interval: 300 };

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
  const deployment = ['-n', NAMESPACE, 'deployment/traffic-operator'];
  expect(await field(f.controlPlane, deployment, '.spec.template.spec.containers[0].image')).toBe(IMAGE);
  expect(await kubectl(f.controlPlane, ['get', 'mutatingadmissionpolicies', '-oname'])).toContain('traffic-operator');
  // A second time, over what is there.
  await runClusterScript(f.controlPlane, 'deploy', { NAMESPACE });
  expect(await field(f.controlPlane, deployment, '.spec.template.spec.containers[0].image')).toMatch(
    /^traffic-operator:/,
  );
});

it('removes it, and what the operator has made', async () => {
  const kubeconfig = await kubeconfigOf(f.controlPlane, 'traffic-operator', NAMESPACE);
  const args = ['--leader-elect', `--namespace=${NAMESPACE}`];
  await f.startOperator(args, { kubeconfig });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(UNFIT)).toEqual({ n1: 'false', n2: 'false' }), WAIT);
  await f.stopOperator();

  await Promise.all([runClusterScript(f.controlPlane, 'undeploy', { NAMESPACE }), carryOutCleanup(f.controlPlane)]);
  expect(await f.labels(UNFIT)).toEqual({});
  await runClusterScript(f.controlPlane, 'uninstall');
  // The garbage collector's, which does not run here.
  await kubectl(f.controlPlane, ['delete', 'deployment/web']);
  await vi.waitFor(async () => expect(await allObjects(f.controlPlane)).toEqual(before), WAIT);
});

it('says what is missing without OLM, and how it is called', async () => {
  await expect(runClusterScript(f.controlPlane, 'olm-deploy')).rejects.toThrow(
    /OLM is not installed: make olm-install/,
  );
  await expect(runClusterScript(f.controlPlane, 'unknown')).rejects.toThrow(/cluster\.sh olm-undeploy/);
});
