import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1ClusterRole, V1ClusterRoleBinding, V1CustomResourceDefinition } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { crds } from '../../scripts/generate/crds.ts';
import { docs } from '../../scripts/generate/docs.ts';
import { rights } from '../../scripts/generate/rights.ts';
import { managerOf } from '../../src/commands/manager/command.ts';
import { EVENTS, NODES } from '../../src/runtime/client/resources.ts';
import type { Resource } from '../../src/runtime/client/resource.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { installCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { NODE_COUNTS, type NodeCount } from './exampleController/api.ts';
import { WITH_EXAMPLE } from './exampleController/main.ts';
import { whenAllowed } from './rights.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** A controller needs a folder and one line of registration: the test checks what the operator and its files do with it. */
const MAIN = fileURLToPath(new URL('exampleController/main.ts', import.meta.url));
const NAME = { namespace: 'default', name: 'blue' };
const WAIT = { timeout: 120_000, interval: 200 };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
const ROLES: Resource<V1ClusterRole> = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource<V1ClusterRoleBinding> = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
const USER = 'operator';

/** The named template of the chart, as rules. */
function rulesOf(name: string): V1ClusterRole['rules'] {
  const text = rights(WITH_EXAMPLE)[0]?.content ?? '';
  const define = new RegExp(`define "traffic-operator.rights.${name}" -}}\n([^]*?)\\{\\{- end -}}`);
  return parse(
    (define.exec(text)?.[1] ?? '').replaceAll('{{ .Release.Namespace }}', 'traffic-operator-system'),
  ) as V1ClusterRole['rules'];
}

describe('the files that are generated', () => {
  it('have its CRD, its rights, its flag and its metric', async () => {
    const paths = crds(WITH_EXAMPLE).map(({ path }) => path);
    expect(paths).toContain('deploy/crds/example.traffic.example.com_nodecounts.yaml');
    expect(paths).toContain('charts/traffic-operator/templates/crds/example.traffic.example.com_nodecounts.yaml');
    const granted = (name: string) => rulesOf(name)?.filter(({ apiGroups }) => apiGroups?.[0] === NODE_COUNTS.group);
    expect(granted('controller.cluster')?.flatMap(({ verbs }) => verbs)).toEqual(['list', 'watch', 'patch']);
    expect(granted('cleanup.cluster')?.flatMap(({ verbs }) => verbs)).toEqual(['list', 'patch']);
    const pages = (await docs(WITH_EXAMPLE)).map(({ content }) => content).join('');
    expect(pages).toMatch(/^\| `--node-count-most` .* `3` .* More nodes than these are too many\./m);
    expect(pages).toMatch(/^\| `traffic_operator_nodecount_nodes` \| gauge \| `nodecount` /m);
  });

  it('and the command line takes the flag, with the check that the controller brings', () => {
    const manager = managerOf(WITH_EXAMPLE);
    manager.prepare(['--node-count-most=5'], {});
    const problem = '--node-count-most=1: must be 2 at least: one node is no cluster';
    expect(() => manager.prepare(['--node-count-most=1'], {})).toThrow(problem);
  });
});

describe('the operator with it', () => {
  let f: Fixture;

  beforeAll(async () => {
    f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
    const crd = crds(WITH_EXAMPLE).find(({ path }) => path.startsWith('deploy/crds/example'))?.content ?? '';
    await installCrd(f.client, parse(crd, { version: '1.1' }) as V1CustomResourceDefinition, NODE_COUNTS);
    await f.client.create(NODE_COUNTS, { metadata: NAME, spec: { namePrefix: 'n' } });
    await grant();
    await f.startOperator(['--node-count-most=3'], { main: MAIN, kubeconfig: await f.controlPlane.user(USER) });
  });
  afterAll(() => f.stop());

  /** Grants the rights that the chart would grant, and the right to the process' own events. */
  async function grant(): Promise<void> {
    const events = [{ apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] }];
    const deployments = ['cluster', 'namespaces'].map((scope) => `trafficWatch.deployments.${scope}`);
    const granted = ['controller.cluster', 'controller.own', ...deployments].flatMap((name) => rulesOf(name) ?? []);
    const rules = [...granted, ...events];
    await f.client.create(ROLES, { metadata: { name: USER }, rules });
    await f.client.create(BINDINGS, {
      metadata: { name: USER },
      roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name: USER },
      subjects: [{ kind: 'User', name: USER }],
    });
    await whenAllowed(f.client, USER, events[0]!);
  }

  const status = async (): Promise<NodeCount['status']> => (await f.client.get(NODE_COUNTS, NAME)).status;

  it('reconciles its objects, with a status, a condition, an event and a metric', async () => {
    await vi.waitFor(async () => expect((await status())?.nodes).toBe(3), WAIT);
    expect(findCondition((await status())?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'Counted' });
    await f.addNode('n4');
    await vi.waitFor(async () => {
      expect(findCondition((await status())?.conditions, 'Ready')).toMatchObject({
        status: 'False',
        reason: 'TooMany',
      });
      const events = await f.client.list(EVENTS, { namespace: 'default' });
      expect(events.map(({ reason }) => reason)).toContain('TooMany');
      const metrics = await (await fetch(f.operator().metricsUrl)).text();
      expect(metrics).toContain('traffic_operator_nodecount_nodes{nodecount="default/blue"} 4');
    }, WAIT);
    expect(f.operator().log()).not.toMatch(/forbidden/i);
  });

  it('does its main job as well', async () => {
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await vi.waitFor(async () => {
      expect(Object.keys(await f.labels(unfitKey('web')))).toEqual(['n1', 'n2', 'n3']);
    }, WAIT);
  });

  it('is cleaned up with the others', async () => {
    await f.stopOperator();
    await promisify(execFile)(process.execPath, [
      MAIN,
      'cleanup',
      `--kubeconfig=${f.controlPlane.kubeconfig}`,
      '--namespace=default',
    ]);
    expect(await status()).toBeUndefined();
    expect((await f.client.list(NODES)).filter(({ metadata }) => unfitKey('web') in (metadata?.labels ?? {}))).toEqual(
      [],
    );
  });
});
