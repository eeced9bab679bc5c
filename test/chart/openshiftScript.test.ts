import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { V1Job, V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { carryOutCleanup, runClusterScript } from '../harness/clusterScript.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { field, kubectl } from '../harness/kubectl.ts';
import { securityContextConstraintsCrd } from '../harness/openshift.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';
import { fixedIds, refusals, RESTRICTED_V2 } from './constraints.ts';

/** scripts/cluster.sh on a real API server with OpenShift's CRD of SecurityContextConstraints, which admits by none. */
const NAMESPACE = 'network';
const SCC = 'securitycontextconstraints.security.openshift.io';
const CLEANUP = 'traffic-operator-cleanup';
const VARIABLE = { name: 'TRAFFIC_OPERATOR_OPENSHIFT', value: 'true' };
const WAIT = { timeout: 60_000, interval: 300 };

let f: Fixture;
let controllers: RunningProcess;

beforeAll(async () => {
  f = await startFixture({ nodes: [], crd: 'none' });
  const { kubeconfig, directory } = f.controlPlane;
  const flags = [`--kubeconfig=${kubeconfig}`, '--controllers=namespace-controller', '--leader-elect=false'];
  const program = await binary('kube-controller-manager');
  controllers = start(program, [...flags, '--secure-port=0'], `${directory}/controllers.log`);
  const crds = execFileSync(await binary('operator-framework'), ['crds'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  await kubectl(f.controlPlane, ['apply', '--server-side', '-f-'], crds);
  await kubectl(f.controlPlane, ['create', '-f-'], JSON.stringify(await securityContextConstraintsCrd()));
  await kubectl(f.controlPlane, ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
});
afterAll(async () => {
  await controllers.stop();
  await f.stop();
});

const script = (command: string, variables = {}): Promise<string> =>
  runClusterScript(f.controlPlane, command, { NAMESPACE, ...variables });
const namesOfConstraints = async (): Promise<string[]> =>
  (await kubectl(f.controlPlane, ['get', SCC, '-oname'])).split('\n').filter(Boolean).sort();
const NAMES = ['connectivity-agents', 'node-exporter'].map((name) => `${SCC}/${NAMESPACE}-traffic-operator-${name}`);

async function podOf(object: readonly string[]): Promise<V1PodSpec> {
  return JSON.parse(await field(f.controlPlane, object, '.spec.template.spec')) as V1PodSpec;
}

/** The pod of the clean-up, whose Job is there only while it runs. */
async function podOfCleanup(): Promise<V1PodSpec> {
  return vi.waitFor(async () => {
    const job = await kubectl(f.controlPlane, ['get', `job/${CLEANUP}`, '-n', CLEANUP, '-ojson']);
    return (JSON.parse(job) as V1Job).spec!.template.spec!;
  }, WAIT);
}

describe('on OpenShift', () => {
  it('deploy makes a pod that restricted-v2 admits, tells it, and creates the SCCs', async () => {
    await script('install');
    await script('deploy');
    const pod = await podOf(['-n', NAMESPACE, 'deployment/traffic-operator']);
    expect([fixedIds(pod), refusals(pod, RESTRICTED_V2)]).toEqual([[], []]);
    expect(pod.containers[0]!.env).toContainEqual(VARIABLE);
    expect(await namesOfConstraints()).toEqual(NAMES);
  });

  it('undeploy cleans up by such a pod, and deletes the SCCs', async () => {
    const [pod] = await Promise.all([podOfCleanup(), script('undeploy'), carryOutCleanup(f.controlPlane)]);
    expect([fixedIds(pod), refusals(pod, RESTRICTED_V2)]).toEqual([[], []]);
    expect(await namesOfConstraints()).toEqual([]);
  });
});

describe('on OpenShift, with OLM', () => {
  const variables = async (): Promise<string> =>
    field(f.controlPlane, ['-n', NAMESPACE, 'subscription/traffic-operator'], '.spec.config.env');
  // No OLM runs here that would install it.
  const deploy = (): Promise<void> => expect(script('olm-deploy', { TIMEOUT: '1s' })).rejects.toThrow(/timed out/);

  it('olm-deploy gives the Subscription the variable, and creates the SCCs', async () => {
    await deploy();
    expect(JSON.parse(await variables())).toEqual([VARIABLE]);
    expect(await namesOfConstraints()).toEqual(NAMES);
  });

  const page = readFileSync(new URL('../../docs/olm.md', import.meta.url), 'utf8');
  const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);
  it('that is what docs/olm.md does by hand, and the API of OLM takes each of its examples', async () => {
    expect(examples.filter((text) => text.includes(VARIABLE.name))).toHaveLength(1);
    const known = readFileSync(new URL('../../docs/flags.md', import.meta.url), 'utf8');
    for (const text of examples) {
      const args = ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f-'];
      const here = text.replaceAll('traffic-operator-system', NAMESPACE);
      expect(await kubectl(f.controlPlane, args, here)).toContain('serverside-applied');
      for (const [, name] of text.matchAll(/name: (TRAFFIC_OPERATOR_\w+)/g)) expect(known).toContain(`\`${name}\``);
    }
  });

  it('it leaves a Subscription with variables of its own as it is', async () => {
    const own = [{ name: 'TRAFFIC_OPERATOR_INTERVAL', value: '30s' }];
    const patch = JSON.stringify({ spec: { config: { env: own } } });
    const subscription = ['-n', NAMESPACE, 'patch', 'subscription/traffic-operator'];
    await kubectl(f.controlPlane, [...subscription, '--type=merge', `-p${patch}`]);
    await deploy();
    expect(JSON.parse(await variables())).toEqual(own);
  });

  it('olm-undeploy cleans up by a pod that restricted-v2 admits, and deletes the SCCs', async () => {
    const [pod] = await Promise.all([podOfCleanup(), script('olm-undeploy'), carryOutCleanup(f.controlPlane)]);
    expect([fixedIds(pod), refusals(pod, RESTRICTED_V2)]).toEqual([[], []]);
    expect(await namesOfConstraints()).toEqual([]);
  });
});
