import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { V1Job, V1PodSpec, V1Volume, V1VolumeMount } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { carryOutCleanup, runClusterScript } from '../harness/clusterScript.ts';
import { established } from '../harness/customResource.ts';
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
/** Port 9100 of the nodes belongs to OpenShift's own node-exporter. */
const PORT = { name: 'TRAFFIC_OPERATOR_NODE_EXPORTER_PORT', value: '9890' };
const EXAMPLE = /^```yaml\n(.*?)^```/gms;
const WAIT = { timeout: 120_000, interval: 300 };

interface Subscription {
  spec: { config: { env: { name: string; value: string }[]; volumes?: V1Volume[]; volumeMounts?: V1VolumeMount[] } };
}

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
  await established((args) => kubectl(f.controlPlane, args), ['crd', '--all']);
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
    expect(pod.containers[0]!.env).toEqual(expect.arrayContaining([VARIABLE, PORT]));
    // It would take precedence over the variable.
    expect(pod.containers[0]!.args!.filter((arg) => arg.startsWith('--node-exporter-port'))).toEqual([]);
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

  it('olm-deploy gives the Subscription the variables, and creates the SCCs', async () => {
    await deploy();
    expect(JSON.parse(await variables())).toEqual([VARIABLE, PORT]);
    expect(await namesOfConstraints()).toEqual(NAMES);
  });

  const pages = ['olm', 'openshift'].map((name) =>
    readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'),
  );
  const examples = pages
    .flatMap((page) => [...page.matchAll(EXAMPLE)].map(([, text = '']) => text))
    .filter((text) => text.includes('kind: Subscription\n'));
  it('that is what docs/olm.md does by hand, and the API of OLM takes each example of a Subscription', async () => {
    const environments = examples.map((text) => (parse(text) as Subscription).spec.config.env);
    const onOpenShift = environments.filter((env) => env.some(({ name }) => name === VARIABLE.name));
    expect(onOpenShift).toEqual([[VARIABLE, PORT], expect.arrayContaining([VARIABLE]) as unknown]);
    const known = readFileSync(new URL('../../docs/flags.md', import.meta.url), 'utf8');
    for (const text of examples) {
      const args = ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f-'];
      const here = text.replaceAll('traffic-operator-system', NAMESPACE);
      expect(await kubectl(f.controlPlane, args, here)).toContain('serverside-applied');
      for (const [, name] of text.matchAll(/name: (TRAFFIC_OPERATOR_\w+)/g)) expect(known).toContain(`\`${name}\``);
    }
  });

  it('the example for the Thanos querier mounts what its variables name, from the objects of docs/openshift.md', () => {
    const { env, volumes = [], volumeMounts = [] } = (parse(examples.at(-1)!) as Subscription).spec.config;
    const values = new Map(env.map(({ name, value }) => [name, value]));
    const mounted = volumeMounts.map(({ name, mountPath, readOnly }) => [name, mountPath, readOnly]);
    expect(mounted).toEqual([
      ['token', dirname(values.get('TRAFFIC_OPERATOR_PROMETHEUS_BEARER_TOKEN_FILE')!), true],
      ['ca', dirname(values.get('TRAFFIC_OPERATOR_PROMETHEUS_CA_FILE')!), true],
    ]);
    expect(volumes).toEqual([
      { name: 'token', secret: { secretName: 'thanos-querier-token' } },
      { name: 'ca', configMap: { name: 'openshift-service-ca' } },
    ]);
    // Of the same name and with the same keys as the chart has them: chart/openshiftDoc.
    expect(pages[1]).toMatch(/^ {2}name: thanos-querier-token$/m);
    expect(pages[1]).toMatch(/^ {2}name: openshift-service-ca$/m);
    expect(values.get('TRAFFIC_OPERATOR_PROMETHEUS_BEARER_TOKEN_FILE')).toMatch(/\/token$/);
    expect(values.get('TRAFFIC_OPERATOR_PROMETHEUS_CA_FILE')).toMatch(/\/service-ca\.crt$/);
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
