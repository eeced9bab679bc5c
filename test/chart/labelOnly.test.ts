import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FINALIZER } from '../../src/controllers/trafficwatch/names.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { arrived, AUDIT_OF_USERS, writesOf } from '../harness/audit.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { kubeconfigOf, kubectl } from '../harness/kubectl.ts';
import { unfitKey } from '../harness/unfitKey.ts';
import { applyRights } from './chartRights.ts';

/** The label-only installation: its rights, as the chart renders them, and its flags, on a real API server. */
const NAMESPACE = 'traffic-operator-system';
const USER = `system:serviceaccount:${NAMESPACE}:traffic-operator`;
const VALUES = 'crds.enabled=false,trafficWatch.deployments.enabled=false';
const UNFIT = unfitKey('db');
const WAIT = { timeout: 120_000, interval: 300 };
const REF = { namespace: 'default', name: 'web' };

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

  it('has no right to create a Deployment', async () => {
    const asked = kubectl(f.controlPlane, ['auth', 'can-i', 'create', 'deployments', '-n', 'default', `--as=${USER}`]);
    await expect(asked).rejects.toMatchObject({ stdout: 'no\n' });
  });
});
