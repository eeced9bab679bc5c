import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FINALIZER } from '../../src/controllers/trafficwatch/names.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { arrived, AUDIT_OF_USERS, writesOf } from '../harness/audit.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { compareGrants, grantsOf, type Exception } from '../harness/grants.ts';
import { kubeconfigOf, kubectl } from '../harness/kubectl.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { unfitKey } from '../harness/unfitKey.ts';
import { applyRights } from './chartRights.ts';

/** The label-only installation: its rights, as the chart renders them, and its flags, on a real API server. */
const NAMESPACE = 'traffic-operator-system';
const USER = `system:serviceaccount:${NAMESPACE}:traffic-operator`;
const VALUES = 'crds.enabled=false,trafficWatch.deployments.enabled=false';
const UNFIT = unfitKey('db');
const WAIT = { timeout: 120_000, interval: 300 };
const REF = { namespace: 'default', name: 'web' };
const EXCEPTIONS: readonly Exception[] = [
  {
    right: /^(get|create|patch|delete) \S+ "(node-exporter|prometheus[\w-]*|\S+-node-exporter)"/,
    why: 'the operator is given a Prometheus and deploys none: rights.test.ts',
  },
  {
    right: /^(get|delete) \S+ "(netchecker-[\w-]+|\S+-connectivity)"/,
    why: 'no connectivity check was deployed that is to be removed: rights.test.ts',
  },
  {
    right: /^(create|patch|delete|update) trafficstacks|controllerrevisions\.apps in|^list events\S* in/,
    why: 'nothing is deployed, so there is no stack: rights.test.ts, test/integration/stacks/builtIns.test.ts',
  },
  {
    right: /^(get|list|watch) (daemonsets\.apps|services)$/,
    why: 'the operator is given a Prometheus and looks for none: test/integration/stacks/earlierExternal.test.ts',
  },
  {
    right: /^get (statefulsets|replicasets)\.apps$|^get (jobs|cronjobs)\.batch$/,
    why: 'spec.targetRef names a Deployment: rights.test.ts names each kind',
  },
  {
    right: /^(get|patch) pods in|^get replicasets\.apps in/,
    why: 'the operator does not run in a pod and has no Prometheus to annotate: rights.test.ts',
  },
  { right: /^patch connectivitychecks\S+\/status$/, why: 'no ConnectivityCheck: rights.test.ts' },
  { right: /^delete podplacements/, why: 'the TrafficWatch that has it is not deleted: rights.test.ts' },
  { right: /^patch events/, why: 'for an event that repeats within ten minutes', byChance: true },
];

let f: Fixture;
const whenLabelled = () =>
  vi.waitFor(async () => expect(await f.labels(UNFIT)).toEqual({ n1: 'false', n2: 'true' }), WAIT);

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'], auditPolicy: AUDIT_OF_USERS });
  await kubectl(f.controlPlane, ['create', 'namespace', NAMESPACE]);
  const args = await applyRights(f.controlPlane, VALUES);
  const flags = args.filter((arg) => /^--(deployment|stack)/.test(arg));
  expect(flags).toEqual(['--deployments=false']);
  f.exporter.setPercent('n2', 50);
  await f.createForeignDeployment('db');
  await f.createForeignDeployment('web');
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await f.createWatch('db', {
    maxBandwidthPercent: '10',
    targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'db' },
  });
  await f.startOperator([...flags, '--leader-elect', `--namespace=${NAMESPACE}`], {
    kubeconfig: await kubeconfigOf(f.controlPlane, 'traffic-operator', NAMESPACE),
    // One that lacks a right is not ready: the audit log says which.
    until: 'alive',
  });
});
afterAll(() => f.stop());

describe('an operator that may not write Deployments', () => {
  it('labels nodes for a workload that exists', async () => {
    await whenLabelled();
    // Also of the TrafficWatch with spec.deployment, which would get its label in another installation.
    const bytes = ['db', 'web'].map((name) => `${unfitKey(name)}false`.length);
    expect((await metricsOf(f.operator())).sum('node_label_bytes')).toBe(bytes[0]! + bytes[1]!);
  });

  it('says of a TrafficWatch with spec.deployment what to do, and leaves the Deployment', async () => {
    await vi.waitFor(async () => {
      const stalled = findCondition((await f.watch('web')).status?.conditions, 'Stalled');
      expect(stalled).toMatchObject({ status: 'True', reason: 'DeploymentsNotAllowed' });
      expect(stalled?.message).toContain('trafficWatch.deployments.enabled');
    }, WAIT);
    const { metadata } = await f.client.get(DEPLOYMENTS, REF);
    expect([metadata?.generation, metadata?.ownerReferences]).toEqual([1, undefined]);
  });

  it('removes the finalizer of such a TrafficWatch when it is deleted', async () => {
    await f.patchWatch('web', { metadata: { finalizers: [FINALIZER] } });
    await f.deleteWatch('web');
    await vi.waitFor(() => expect(f.watch('web')).rejects.toMatchObject({ status: 404 }), WAIT);
  });

  it('sends no request that is refused, and of Deployments only reads the target', async () => {
    await whenLabelled();
    await f.stopOperator();
    const requests = arrived(f.controlPlane).filter(({ user }) => user === USER);
    expect(requests.filter(({ isForbidden }) => isForbidden)).toEqual([]);
    const others = requests.filter(({ resource, namespace }) => resource === 'deployments' && namespace !== NAMESPACE);
    expect([...new Set(others.map(({ verb, name }) => `${verb} ${name}`))]).toEqual(['get db']);
    const written = new Set(writesOf(f.controlPlane, USER).map(({ resource }) => resource));
    expect([...written].sort()).toEqual([
      'events',
      'nodes',
      'podplacements',
      'trafficwatches',
      'trafficwatches/status',
    ]);
  });

  it('has no right that it does not use', async () => {
    const granted = await grantsOf(f.controlPlane, NAMESPACE, 'traffic-operator');
    expect(compareGrants(f.controlPlane, USER, granted, EXCEPTIONS)).toEqual({ unused: [], stale: [] });
  });

  it('has no right to create a Deployment', async () => {
    const asked = kubectl(f.controlPlane, ['auth', 'can-i', 'create', 'deployments', '-n', 'default', `--as=${USER}`]);
    await expect(asked).rejects.toMatchObject({ stdout: 'no\n' });
  });
});
