import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec, type WorkloadComponent } from '../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { CONFIG_MAPS, DAEMONSETS, DEPLOYMENTS, EVENTS } from '../../src/runtime/client/resources.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { arrived, AUDIT_OF_USERS, writesOf } from '../harness/audit.ts';
import { installCrd, trafficStackCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { compareGrants, grantsOf, type Exception, type Grant } from '../harness/grants.ts';
import { kubeconfigOf, kubectl } from '../harness/kubectl.ts';
import { applyRights } from './chartRights.ts';

/** An installation whose stacks have some namespaces alone: its rights, as the chart renders them, and its flags, on a real API server. */
const NAMESPACE = 'traffic-operator-system';
const USER = `system:serviceaccount:${NAMESPACE}:traffic-operator`;
const VALUES = 'crds.enabled=false,trafficWatch.deployments.enabled=false,stacks.enabled=true';
const WAIT = { timeout: 120_000, interval: 300 };
const PERSON = { fieldManager: 'person' };
const EXCEPTIONS: readonly Exception[] = [
  {
    right: /^(get|create|patch|delete) \S+ "(netchecker-[\w-]+|\S+-connectivity|prometheus[\w-]*)"/,
    why: 'neither is deployed: rights.test.ts',
  },
  { right: /^delete \S+ "(node-exporter|\S+-node-exporter)"$/, why: 'node-exporter stays: rights.test.ts' },
  {
    right:
      /(statefulsets|daemonsets)\.apps in|(poddisruptionbudgets|prometheusrules)\.\S+( in|$)|^(create|patch|delete) services in/,
    why: 'components here are Deployments with files: test/integration/stacks uses the other kinds',
  },
  {
    right: /controllerrevisions\.apps( in|$)|^delete pods in|^list events/,
    why: 'no component fails or rolls back: test/integration/stacks/upgrades.test.ts',
  },
  {
    right: /^(create|patch|delete) (deployments\.apps|configmaps) in traffic-operator-system$/,
    why: 'no component is in the namespace of the release: test/integration/stacks',
  },
  {
    right: /^delete (deployments\.apps|configmaps) in other$/,
    why: 'the right is taken away before anything there is deleted',
  },
  {
    right:
      /^get (statefulsets|replicasets|daemonsets)\.apps$|^get (jobs|cronjobs)\.batch$|^get (services|serviceaccounts)$/,
    why: 'for other kinds of components, and targets of TrafficWatches: rights.test.ts',
  },
  {
    right: /^(get|patch) pods in|^get replicasets\.apps in/,
    why: 'the operator does not run in a pod: rights.test.ts',
  },
  {
    right: /podplacements|^patch (nodes|trafficwatches)|^patch connectivitychecks|admissionregistration/,
    why: 'no TrafficWatch and no ConnectivityCheck: labelOnly.test.ts, rights.test.ts',
  },
  {
    right: /^create trafficstacks|^delete trafficstacks\S+ "default"$|^update trafficstacks\S+\/finalizers$/,
    why: 'the operator deploys nothing by itself, and no admission plugin asks for the last one: rights.test.ts',
  },
  { right: /^patch events/, why: 'for an event that repeats within ten minutes', byChance: true },
];

let f: Fixture;
let kubeconfig: string;
/** The rights that the installation and the upgrades have granted. */
const granted = new Map<string, Grant>();

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'], auditPolicy: AUDIT_OF_USERS });
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
  for (const name of [NAMESPACE, 'shop', 'other']) await kubectl(f.controlPlane, ['create', 'namespace', name]);
  const flags = await allow('shop');
  expect(flags).toEqual(['--stacks=true', '--default-stack=true', '--stack-namespace=shop']);
  kubeconfig = await kubeconfigOf(f.controlPlane, 'traffic-operator', NAMESPACE);
  await start(flags);
});
afterAll(() => f.stop());

/** Installs the rights for stacks in these namespaces. @returns the flags about stacks */
async function allow(...namespaces: readonly string[]): Promise<readonly string[]> {
  const args = await applyRights(f.controlPlane, `${VALUES},stacks.namespaces={${namespaces.join()}}`);
  for (const [text, grant] of await grantsOf(f.controlPlane, NAMESPACE, 'traffic-operator')) granted.set(text, grant);
  return args.filter((arg) => arg.includes('stack'));
}

async function start(flags: readonly string[]): Promise<void> {
  // One that lacks a right is not ready: the audit log says which.
  await f.startOperator([...flags, '--leader-elect', `--namespace=${NAMESPACE}`], { kubeconfig, until: 'alive' });
}

/** As `helm upgrade` does: other rights, and an operator with other flags. */
async function upgrade(...namespaces: readonly string[]): Promise<void> {
  await f.stopOperator();
  await start(await allow(...namespaces));
}

const workload = (name: string, namespace: string, image = 'web:1'): WorkloadComponent => ({
  ...{ name, type: 'Workload' },
  workload: {
    ...{ kind: 'Deployment', namespace },
    config: [{ name: 'etc', mountPath: '/etc/web', files: { a: 'b' } }],
    podTemplate: { spec: { containers: [{ name: 'web', image }] } },
  },
});
const create = (name: string, ...components: ComponentSpec[]) =>
  f.client.create(TRAFFIC_STACKS, { metadata: { name }, spec: { components } });
const stalled = async (name: string) =>
  findCondition((await f.client.get(TRAFFIC_STACKS, { name })).status?.conditions, 'Stalled');
const deployments = async (namespace: string) =>
  (await f.client.list(DEPLOYMENTS, { namespace })).map(({ metadata }) => metadata?.name).sort();
const becomesStalled = (name: string) =>
  vi.waitFor(async () => {
    expect(await stalled(name)).toMatchObject({ status: 'True', reason: 'NamespaceNotAllowed' });
  }, WAIT);

describe('with stacks.namespaces=[shop]', () => {
  it.each([
    { may: 'yes', verb: 'create', of: 'deployments', namespace: 'shop' },
    { may: 'yes', verb: 'delete', of: 'pods', namespace: 'shop' },
    { may: 'yes', verb: 'create', of: 'configmaps', namespace: NAMESPACE },
    { may: 'yes', verb: 'list', of: 'configmaps', namespace: 'other' },
    { may: 'no', verb: 'create', of: 'deployments', namespace: 'other' },
    { may: 'no', verb: 'patch', of: 'configmaps', namespace: 'other' },
    { may: 'no', verb: 'delete', of: 'services', namespace: 'other' },
    { may: 'no', verb: 'delete', of: 'pods', namespace: 'other' },
    { may: 'no', verb: 'create', of: 'deployments', namespace: 'kube-system' },
  ])('the account may $verb $of in $namespace: $may', async ({ may, verb, of, namespace }) => {
    const asked = kubectl(f.controlPlane, ['auth', 'can-i', verb, of, '-n', namespace, `--as=${USER}`]);
    // It fails with the answer no.
    const said = await asked.catch((error: unknown) => (error as { stdout: string }).stdout);
    expect(said.trim()).toBe(may);
  });

  it('writes a stack in shop, and what a built-in component has by its name elsewhere', async () => {
    const exporter = { namespace: `${NAMESPACE}-node-exporter`, name: 'node-exporter' };
    await create('main', workload('web', 'shop'), { name: 'exporter', type: 'NodeExporter' });
    await vi.waitFor(async () => {
      expect(await deployments('shop')).toEqual(['web']);
      expect((await f.client.get(DAEMONSETS, exporter)).metadata?.name).toBe(exporter.name);
    }, WAIT);
    expect(await stalled('main')).toMatchObject({ status: 'False' });
  });

  it('refuses a stack with a component in another namespace, and writes nothing of it', async () => {
    await create('wide', workload('api', 'shop'), workload('web', 'other'));
    await becomesStalled('wide');
    expect((await stalled('wide'))?.message).toBe(
      `component web: the operator may not write in namespace other: add it to stacks.namespaces of the chart (--stack-namespace), or use an allowed namespace: shop, ${NAMESPACE}`,
    );
    expect([await deployments('shop'), await deployments('other')]).toEqual([['web'], []]);
    expect(writesOf(f.controlPlane, USER).filter(({ namespace }) => namespace === 'other')).toEqual([]);
  });

  it('goes on when the namespace is added', async () => {
    await upgrade('shop', 'other');
    await vi.waitFor(async () => {
      expect([await deployments('shop'), await deployments('other')]).toEqual([['api', 'web'], ['web']]);
      expect(await stalled('wide')).toMatchObject({ status: 'False' });
    }, WAIT);
  });

  it('neither changes nor deletes what exists when the namespace is taken away, and says so', async () => {
    await upgrade('shop');
    await becomesStalled('wide');
    const versions = async () => {
      const lists = ['shop', 'other'].flatMap((namespace) =>
        [DEPLOYMENTS, CONFIG_MAPS].map((resource: Resource) => f.client.list(resource, { namespace })),
      );
      return (await Promise.all(lists)).flat().map(({ metadata }) => `${metadata?.uid} ${metadata?.resourceVersion}`);
    };
    const before = await versions();
    const components = [workload('api', 'shop', 'api:2')];
    const { metadata } = await f.client.mergePatch(TRAFFIC_STACKS, { name: 'wide' }, { spec: { components } }, PERSON);
    await vi.waitFor(async () => {
      const { status } = await f.client.get(TRAFFIC_STACKS, { name: 'wide' });
      expect(status?.observedGeneration).toBe(metadata?.generation);
    }, WAIT);
    expect((await stalled('wide'))?.message).toMatch(/Deployment other\/web.* may not delete in namespace other/);
    expect(await versions()).toEqual(before);
  });

  it('ends the deletion of such a stack, and says what it leaves to Kubernetes', async () => {
    await f.client.delete(TRAFFIC_STACKS, { name: 'wide' });
    await vi.waitFor(() => expect(f.client.get(TRAFFIC_STACKS, { name: 'wide' })).rejects.toSatisfy(isNotFound), WAIT);
    expect([await deployments('shop'), await deployments('other')]).toEqual([['web'], ['web']]);
    const [left] = await f.client.list(DEPLOYMENTS, { namespace: 'other' });
    // The garbage collector, which does not run here, deletes it.
    expect(left?.metadata?.ownerReferences).toMatchObject([{ kind: 'TrafficStack', name: 'wide' }]);
    await vi.waitFor(async () => {
      const events = await f.client.list(EVENTS, { namespace: 'default' });
      const notes = events.filter(({ reason }) => reason === 'NamespaceNotAllowed').map(({ note }) => note);
      expect(notes).toContainEqual(expect.stringMatching(/may not delete in namespace other.*Deployment other\/web/));
    }, WAIT);
  });

  it('sends no request that is refused', async () => {
    await f.stopOperator();
    const requests = arrived(f.controlPlane).filter(({ user }) => user === USER);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter(({ isForbidden }) => isForbidden)).toEqual([]);
  });

  it('has no right that it does not use', () => {
    expect(compareGrants(f.controlPlane, USER, granted, EXCEPTIONS)).toEqual({ unused: [], stale: [] });
  });
});
