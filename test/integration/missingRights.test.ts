import { readFileSync } from 'node:fs';
import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { DAEMONSETS, DEPLOYMENTS, NAMESPACES } from '../../src/runtime/resources.ts';
import type { KubeObject, Resource } from '../../src/runtime/resource.ts';
import { withNodeOptions } from '../faults/nodeOptions.ts';
import { startFixture, type Fixture } from './fixture.ts';

/** The operator's process with the rights that deploy/ gives it, but for one verb on one resource. */
const WAIT = { timeout: 60_000, interval: 200 };
const NAMESPACE = 'traffic-operator-system';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const MANIFESTS = readFileSync(new URL('../../deploy/operator.yaml', import.meta.url), 'utf8');
/** Two minutes ahead: a node that has just been made has long joined. */
const LATER = new URL('../faults/shiftClock.ts?seconds=120', import.meta.url).href;

/** Where a user is told: a condition of the TrafficWatch, the readiness probe, the log. */
type Place = 'Reconciling' | 'MetricsAvailable' | '/readyz' | 'log';
/** What still works: the node's label, the Deployment, the counts in the status, the Lease. */
type Work = 'label' | 'Deployment' | 'status' | 'lease';

interface Row {
  verb: string;
  /** With its subresource. */
  resource: string;
  told: Place[];
  works: Work[];
}

const ALL: Work[] = ['label', 'Deployment', 'status', 'lease'];
const MEASUREMENT: Place[] = ['MetricsAvailable', '/readyz', 'log'];
const rows: Row[] = [
  // What the operator measures with.
  { verb: 'watch', resource: 'endpointslices', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'daemonsets', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'services', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'configmaps', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'pods', told: MEASUREMENT, works: ALL },
  { verb: 'patch', resource: 'daemonsets', told: ['MetricsAvailable', 'log'], works: ALL },
  // A watch begins with the list.
  { verb: 'list', resource: 'endpointslices', told: [], works: ALL },
  // What it writes for a TrafficWatch.
  { verb: 'patch', resource: 'nodes', told: ['Reconciling'], works: ['Deployment', 'status', 'lease'] },
  { verb: 'patch', resource: 'deployments', told: ['Reconciling'], works: ['label', 'status', 'lease'] },
  { verb: 'patch', resource: 'trafficwatches/status', told: ['log'], works: ['label', 'Deployment', 'lease'] },
  { verb: 'create', resource: 'events', told: ['log'], works: ALL },
  // Without these there is nothing to decide from, or nobody who may write.
  { verb: 'watch', resource: 'nodes', told: ['/readyz', 'log'], works: [] },
  { verb: 'watch', resource: 'trafficwatches', told: ['/readyz', 'log'], works: [] },
  { verb: 'watch', resource: 'deployments', told: ['/readyz', 'log'], works: [] },
  { verb: 'update', resource: 'leases', told: ['log'], works: [] },
];

/** Rules of the Role or ClusterRole in deploy/. */
function rulesOf(kind: 'Role' | 'ClusterRole'): V1PolicyRule[] {
  const documents = parseAllDocuments(MANIFESTS).map((document) => document.toJS() as V1ClusterRole | null);
  const [role, ...others] = documents.filter((object) => object?.kind === kind);
  expect(others).toEqual([]);
  return role!.rules!;
}

function without(rules: V1PolicyRule[], { verb, resource }: Row): V1PolicyRule[] {
  return rules.flatMap((rule) => {
    const verbs = rule.verbs.filter((each) => each !== verb);
    const others = (rule.resources ?? []).filter((each) => each !== resource);
    const kept = { ...rule, resources: others };
    const changed = { ...rule, resources: [resource], verbs };
    if (others.length === rule.resources?.length) return [rule];
    return [kept, changed].filter(({ resources, verbs: some }) => resources.length > 0 && some.length > 0);
  });
}

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  // One that nothing is known of, so that MetricsAvailable has something to explain.
  await f.addNode('n2');
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
});
afterEach(async () => {
  await f.stopOperator();
  // So that the next operator has one to make.
  await f.client.delete(DAEMONSETS, { namespace: `${NAMESPACE}-node-exporter`, name: 'node-exporter' });
});
afterAll(async () => {
  await f.stop();
});

/** A user with all rights of deploy/ but the row's; returns its kubeconfig. */
async function userWithout(row: Row, name: string): Promise<string> {
  let taken = 0;
  for (const [kind, where] of [
    ['ClusterRole', {}],
    ['Role', { namespace: NAMESPACE }],
  ] as const) {
    const all = rulesOf(kind);
    const rules = without(all, row);
    if (JSON.stringify(rules) !== JSON.stringify(all)) taken += 1;
    const namespaced = kind === 'Role';
    const plural = `${kind.toLowerCase()}s`;
    const resource: Resource = { ...RBAC, kind, plural, namespaced };
    const metadata = { name, ...where };
    await f.client.create(resource, { metadata, rules } as KubeObject);
    const bindings: Resource = { ...RBAC, kind: `${kind}Binding`, plural: `${kind.toLowerCase()}bindings`, namespaced };
    const subjects = [{ apiGroup: RBAC.group, kind: 'User', name }];
    const roleRef = { apiGroup: RBAC.group, kind, name };
    await f.client.create(bindings, { metadata, subjects, roleRef } as KubeObject);
  }
  expect(taken, 'deploy/ gives the right at all').toBeGreaterThan(0);
  return f.controlPlane.user(name);
}

/** Everything that a user reads in one place. */
async function textIn(place: Place, watch: string): Promise<string> {
  if (place === 'log') return f.operator().log().replaceAll('\\"', '"');
  if (place === '/readyz') return (await fetch(`${f.operator().healthUrl}/readyz`)).text();
  const { status } = await f.watch(watch);
  return status?.conditions?.find(({ type }) => type === place)?.message ?? '';
}

const key = (watch: string): string => `${watch}.traffic.example.com/unfit`;
const checks: Record<Work, (watch: string) => Promise<void>> = {
  label: async (watch) => expect(await f.labels(key(watch))).toEqual({ n1: 'false' }),
  Deployment: async (watch) => {
    await f.client.get(DEPLOYMENTS, { namespace: 'default', name: watch });
  },
  status: async (watch) => expect((await f.watch(watch)).status).toMatchObject({ fitNodes: 1, unknownNodes: 1 }),
  lease: async () => expect(await textIn('log', '')).toContain('started leading'),
};

describe('an operator that lacks a right', () => {
  it.each(rows)('to $verb $resource', async (row) => {
    const name = `no-${row.verb}-${row.resource.replace('/', '-')}`;
    const kubeconfig = await userWithout(row, name);
    await f.createWatch(name, { maxBandwidthPercent: '10' });
    const args = [`--namespace=${NAMESPACE}`, '--leader-elect', '--node-exporter'];
    await withNodeOptions(`--import=${LATER}`, () => f.startOperator(args, { kubeconfig, until: 'alive' }));
    const words = `cannot ${row.verb} resource "${row.resource}"`;
    for (const place of row.told) {
      await vi.waitFor(async () => expect(await textIn(place, name), place).toContain(words), WAIT);
    }
    for (const work of row.works) await vi.waitFor(() => checks[work](name), WAIT);
    if (row.told.length > 0) return;
    await vi.waitFor(async () => expect(await textIn('/readyz', name)).toBe('ok\n'), WAIT);
    expect(await textIn('log', name)).not.toContain(words);
  });
});
