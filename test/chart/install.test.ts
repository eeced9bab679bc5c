import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isHook, manifestsIn, type Manifest } from '../../scripts/chart/helm.ts';
import { FINALIZER } from '../../src/controllers/trafficwatch/names.ts';
import { operatorMain } from '../harness/operatorMain.ts';
import type { Outcome } from '../harness/execute.ts';
import { CHART, type Cluster, DEPLOY, type Helm, HELMS, run, startCluster } from './cluster.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** The chart's releases on a real API server: no controller and no pod runs there, so the tests play their parts. */
const NAMESPACE = 'network';
const CRD = 'crd/trafficwatches.traffic.example.com';
const JOB = 'job/traffic-operator-cleanup';
const UNFIT = unfitKey('web');
const WAIT = { timeout: 120_000, interval: 300 };
const DONE = { ok: true, text: expect.any(String) as string };
const refusal = (...texts: string[]): object => ({
  ok: false,
  text: expect.stringMatching(new RegExp(texts.join('[^]*'))) as string,
});

let cluster: Cluster;
const get = async (object: string, path: string): Promise<string> =>
  (await cluster.kubectl(['-n', NAMESPACE, 'get', object, `-ojsonpath={${path}}`])).text;
const exists = async (object: string): Promise<boolean> =>
  (await cluster.kubectl(['-n', NAMESPACE, 'get', object, '-oname'])).ok;

// Each test has an empty API server: to delete the CRDs of the test before would take up to a minute.
beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.stop());

/** The commands of one helm. */
function commandsOf(program: Helm) {
  const helm = (...args: string[]): Promise<Outcome> => cluster.helm(program, ...args);
  const installAs = (name: string, namespace: string, ...args: string[]): Promise<Outcome> =>
    helm('upgrade', '--install', name, CHART, '-n', namespace, '--create-namespace', ...args);
  const install = (...args: string[]): Promise<Outcome> => installAs('traffic-operator', NAMESPACE, ...args);
  const uninstall = (name = 'traffic-operator'): Promise<Outcome> =>
    helm('uninstall', name, '-n', NAMESPACE, '--no-hooks');
  return { helm, installAs, install, uninstall };
}

describe.each(HELMS)('a release of %s', (program) => {
  const { helm, install } = commandsOf(program);

  describe('with a node that is labelled and a TrafficWatch that is held', () => {
    beforeEach(async () => {
      expect(await install()).toEqual({ ok: true, text: expect.stringContaining('Check the installation:') as string });
      await whenServed();
      const sample = await cluster.kubectl([
        'apply',
        '--validate=strict',
        '-f',
        join(DEPLOY, 'samples', 'trafficwatch.yaml'),
      ]);
      expect(sample).toEqual(DONE);
      const finalizers = JSON.stringify({ metadata: { finalizers: [FINALIZER] } });
      await cluster.kubectl(['patch', 'tw', 'web', '--type=merge', `-p${finalizers}`]);
      const metadata = { name: 'n1', labels: { [UNFIT]: 'true' } };
      await cluster.kubectl(['apply', '-f-'], { apiVersion: 'v1', kind: 'Node', metadata });
    });

    /** The objects that no upgrade and no roll-back may touch: a write would show in the resource version. */
    const untouched = async (): Promise<string[]> => [
      await get(CRD, '.metadata.uid'),
      ...(await Promise.all(['node/n1', 'tw/web'].map((object) => versionOf(object)))),
    ];
    const versionOf = async (object: string): Promise<string> =>
      (await cluster.kubectl(['get', object, '-ojsonpath={.metadata.uid} {.metadata.resourceVersion}'])).text;

    it('is upgraded over changed values and rolled back, and nothing else changes', async () => {
      const before = await untouched();
      const args = await get('deploy/traffic-operator', '.spec.template.spec.containers[0].args');
      const changed = ['--set', 'replicas=3,interval=30s,networkPolicy.enabled=true,metrics.enabled=false'];
      // A clean-up that ran at an upgrade would wait here for a Job that nobody carries out.
      expect(await install(...changed, '--timeout=60s')).toEqual(DONE);
      expect(await get('deploy/traffic-operator', '.spec.replicas')).toBe('3');
      expect(await exists('networkpolicy/traffic-operator')).toBe(true);
      expect(await exists('service/traffic-operator-metrics')).toBe(false);

      expect(await helm('rollback', 'traffic-operator', '1', '-n', NAMESPACE, '--timeout=60s')).toEqual(DONE);
      expect(await get('deploy/traffic-operator', '.spec.replicas')).toBe('2');
      expect(await get('deploy/traffic-operator', '.spec.template.spec.containers[0].args')).toBe(args);
      expect(await exists('networkpolicy/traffic-operator')).toBe(false);
      expect(await exists('service/traffic-operator-metrics')).toBe(true);
      expect([await untouched(), await exists(JOB)]).toEqual([before, false]);
    });

    it('keeps the CRD when an upgrade leaves it out, and takes it up again', async () => {
      const before = await untouched();
      expect(await install('--set', 'crds.enabled=false')).toEqual(DONE);
      expect(await install()).toEqual(DONE);
      expect(await untouched()).toEqual(before);
    });

    it('lets the clean-up run before it goes, and leaves CRD and TrafficWatches behind', async () => {
      const going = helm('uninstall', 'traffic-operator', '-n', NAMESPACE, '--timeout=120s');
      await vi.waitFor(async () => expect(await exists(JOB)).toBe(true), WAIT);
      expect(await exists('deploy/traffic-operator')).toBe(true);
      expect(await runJob()).toEqual({
        ok: true,
        text: expect.not.stringContaining('nothing is cleaned up') as string,
      });
      expect(await get('deploy/traffic-operator', '.spec.replicas')).toBe('0');
      await completeJob();
      expect(await going).toEqual(DONE);
      const left = await cluster.kubectl(['get', 'deploy,sa,svc,role,rolebinding,job,pdb', '-n', NAMESPACE, '-oname']);
      expect(left.text).not.toMatch(/traffic-operator/);
      const roles = await cluster.kubectl(['get', 'clusterrole,clusterrolebinding', '-oname']);
      expect(roles.text).not.toMatch(/traffic-operator/);
      expect([await exists(CRD), (await cluster.kubectl(['get', 'tw/web', '-oname'])).ok]).toEqual([true, true]);

      expect(await install()).toEqual(DONE);
    });
  });

  it('takes over a CRD that is there already if the values say so, and otherwise says why it does not', async () => {
    await cluster.kubectl(['apply', '-f', join(DEPLOY, 'crds')]);
    expect(await install()).toEqual(refusal('connectivitychecks.traffic.example.com', 'ownership'));
    expect(await install('--take-ownership')).toEqual(DONE);
  });

  it('takes over a CRD with another schema, as k8s-netchecker has one; helm 4 has to be told that it may', async () => {
    const names = { plural: 'agents', singular: 'agent', kind: 'Agent', listKind: 'AgentList' };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const crd = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'agents.network-checker.ext' },
      spec: {
        ...{ group: 'network-checker.ext', scope: 'Namespaced', names },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    const own = ['--set', 'connectivity.enabled=true', '--take-ownership'];
    expect(await cluster.kubectl(['create', '-f-'], crd)).toEqual(DONE);
    expect(await install(...own.slice(0, 2))).toEqual(refusal('agents.network-checker.ext', 'cannot be imported'));
    if (program === 'helm') expect(await install(...own)).toEqual(refusal('agents.network-checker.ext', 'conflict'));
    // helm 3 does not know the flag: it overwrites.
    expect(await install(...own, ...(program === 'helm' ? ['--force-conflicts'] : []))).toEqual(DONE);
  });
});

/** The decisions of the templates, which render the same by helm 3 (manifests.test.ts). */
describe('a release', () => {
  const { install, installAs, uninstall } = commandsOf('helm');

  it('takes the CRD along where it is not to be kept', async () => {
    expect(await install('--set', 'crds.keep=false')).toEqual(DONE);
    expect(await exists(CRD)).toBe(true);
    await whenServed();
    await uninstall();
    await cluster.kubectl(['wait', '--for=delete', CRD, '--timeout=120s']);
    expect(await exists(CRD)).toBe(false);
  });

  it('may have another name than the one that left its CRD behind', async () => {
    expect(await install()).toEqual(DONE);
    await uninstall();
    expect(await installAs('other', NAMESPACE)).toEqual(refusal('connectivitychecks.traffic.example.com', 'ownership'));
    expect(await installAs('other', NAMESPACE, '--take-ownership')).toEqual(DONE);
    expect(await installAs('other', NAMESPACE, '--set', 'replicas=1')).toEqual(DONE);
    await uninstall('other');
  });

  it('is the only one: a second is refused and told of the first, wherever and however it is tried', async () => {
    expect(await install()).toEqual(DONE);
    const first = 'the release "traffic-operator" in the namespace "network"';
    const told = refusal(first, 'helm uninstall traffic-operator --namespace network');
    expect(await installAs('other', NAMESPACE)).toEqual(told);
    expect(await installAs('traffic-operator', 'elsewhere')).toEqual(told);
    expect(await installAs('other', 'elsewhere', '--set', 'crds.enabled=false')).toEqual(told);
    expect(await installAs('other', 'elsewhere', '--take-ownership')).toEqual(told);
    expect(await install('--set', 'replicas=1')).toEqual(DONE);
  });

  it('is refused if an operator was installed without helm', async () => {
    const manifests = parseAllDocuments(await readFile(join(DEPLOY, 'operator.yaml'), 'utf8'));
    const role = manifests.map((each) => each.toJS() as Manifest).find(({ kind }) => kind === 'ClusterRole');
    expect(await cluster.kubectl(['apply', '-f-'], role)).toEqual(DONE);
    expect(await install()).toEqual(refusal('without helm', 'traffic-operator-system-traffic-operator'));
    await cluster.kubectl(['delete', '-f-'], role);
  });
});

describe('a release of helm 3', () => {
  it('is upgraded and rolled back by helm 4', async () => {
    const helm = (program: Helm, ...args: string[]): Promise<Outcome> =>
      cluster.helm(program, ...args, '-n', NAMESPACE, '--timeout=60s');
    expect(await helm('helm3', 'install', 'traffic-operator', CHART, '--create-namespace')).toEqual(DONE);
    const uid = await get(CRD, '.metadata.uid');
    expect(await helm('helm', 'upgrade', 'traffic-operator', CHART, '--set', 'replicas=3')).toEqual(DONE);
    expect(await get('deploy/traffic-operator', '.spec.replicas')).toBe('3');
    expect(await helm('helm', 'rollback', 'traffic-operator', '1')).toEqual(DONE);
    expect(await get('deploy/traffic-operator', '.spec.replicas')).toBe('2');
    expect(await get(CRD, '.metadata.uid')).toBe(uid);
  });
});

describe('what helm template renders', () => {
  it.each([
    ['from the side of the client', []],
    ['from the side of the server', ['--server-side']],
  ])('stops no operator where somebody applies it %s, the Job of the clean-up included', async (_how, flags) => {
    const { helm } = commandsOf('helm');
    // Applied from the side of the client, the CRDs would have annotations that are too long.
    const rendered = await helm('template', 'traffic-operator', CHART, '-n', NAMESPACE, '--set', 'crds.enabled=false');
    expect(await cluster.kubectl(['create', 'namespace', NAMESPACE])).toEqual(DONE);
    expect(await cluster.kubectl(['apply', '-n', NAMESPACE, ...flags, '-f-'], rendered.text)).toEqual(DONE);
    const nothing = expect.stringMatching(/applied by kubectl.*nothing is cleaned up/) as string;
    expect(await runJob()).toEqual({ ok: true, text: nothing });
    expect(await get('deploy/traffic-operator', '.spec.replicas')).toBe('2');
  });

  it.each([
    ['cleanup.enabled=false', ['--set', 'cleanup.enabled=false']],
    ['--no-hooks', ['--no-hooks']],
  ])('has no clean-up with what the README names for Argo CD and kubectl: %s', async (_how, args) => {
    const { helm } = commandsOf('helm');
    const template = ['template', 'traffic-operator', CHART, '-n', NAMESPACE, '--set', 'crds.enabled=false'];
    const { text } = await helm(...template, ...args);
    const objects = manifestsIn(text);
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toContain('Deployment traffic-operator');
    const ofCleanup = objects.filter(
      (object) => object.kind === 'Job' || isHook(object) || object.metadata.name.includes('cleanup'),
    );
    expect(ofCleanup).toEqual([]);
    expect(await cluster.kubectl(['create', 'namespace', NAMESPACE])).toEqual(DONE);
    expect(await cluster.kubectl(['apply', '-n', NAMESPACE, '--server-side', '-f-'], text)).toEqual(DONE);
    const applied = await cluster.kubectl(['get', 'job,sa,role,rolebinding', '-n', NAMESPACE, '-oname']);
    const ofCluster = await cluster.kubectl(['get', 'clusterrole,clusterrolebinding', '-oname']);
    expect(`${applied.text}${ofCluster.text}`).not.toMatch(/cleanup|^job/m);
  });
});

describe('deploy/', () => {
  it('is applied unchanged, with the CRD and the clean-up', async () => {
    for (const directory of [join(DEPLOY, 'crds'), DEPLOY, join(DEPLOY, 'cleanup')]) {
      expect(await cluster.kubectl(['apply', '--validate=strict', '-k', directory])).toEqual(DONE);
      // Once more: nothing is left to change. kubectl sends a PodDisruptionBudget's selector each time.
      const again = await cluster.kubectl(['apply', '-k', directory]);
      expect(again.text).not.toMatch(/^(?!poddisruptionbudget).* (created|configured)$/m);
    }
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', join(DEPLOY, 'cleanup')])).toMatchObject({
      ok: true,
    });
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', DEPLOY])).toEqual(DONE);
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', join(DEPLOY, 'crds')])).toEqual(DONE);
  });
});

/** Until TrafficWatches are served, none is accepted, and their CRD may stay for minutes: see deleteOrder.test.ts. */
async function whenServed(): Promise<void> {
  await vi.waitFor(async () => expect(await cluster.kubectl(['get', 'tw'])).toEqual(DONE), WAIT);
}

/** Runs what the pod of the Job would run, with the rights of an administrator. */
async function runJob(): Promise<Outcome> {
  const args = JSON.parse(await get(JOB, '.spec.template.spec.containers[0].args')) as string[];
  return run(process.execPath, [operatorMain(), ...args, `--kubeconfig=${cluster.kubeconfig}`]);
}

/** Writes the status as the Job controller does once the pod has ended well. */
async function completeJob(): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
  const condition = (type: string): object => ({ type, status: 'True', lastTransitionTime: now });
  const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
  const status = { startTime: now, completionTime: now, succeeded: 1, uncountedTerminatedPods: {}, conditions };
  const patch = JSON.stringify({ status });
  const args = ['-n', NAMESPACE, 'patch', JOB, '--subresource=status', '--type=merge', `-p${patch}`];
  expect(await cluster.kubectl(args)).toEqual(DONE);
}
