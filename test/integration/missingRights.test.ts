import { readFileSync } from 'node:fs';
import type { V1ClusterRole, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  LEASES,
  NAMESPACES,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../src/runtime/client/resources.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { measured, seconds } from '../harness/measured.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { withoutOptionalRights } from '../harness/optionalRights.ts';

/**
 * The operator's process with the rights that deploy/ gives it, but for one verb on one resource, and those of stacks and
 * weights, which do not run here.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const NAMESPACE = 'traffic-operator-system';
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const MANIFESTS = readFileSync(new URL('../../deploy/operator.yaml', import.meta.url), 'utf8');
/** Two minutes ahead: a node that has just been made has long joined. */
const LATER = new URL('../harness/shiftClock.ts?seconds=120', import.meta.url).href;

/** Where a user is told: a condition of the TrafficWatch, the readiness probe, the log. */
type Place = 'Reconciling' | 'MetricsAvailable' | 'TargetFound' | 'InjectionUnavailable' | '/readyz' | 'log';
/** What still works: the node's label, the Deployment, the counts in the status, the Lease. */
type Work = 'label' | 'Deployment' | 'status' | 'lease';

interface Row {
  verb: string;
  /** With its subresource. */
  resource: string;
  told: Place[];
  works: Work[];
  ownPrometheus?: boolean;
  /** The TrafficWatch names a StatefulSet instead of a Deployment of its own. */
  foreign?: boolean;
}

const ALL: Work[] = ['label', 'Deployment', 'status', 'lease'];
const MEASUREMENT: Place[] = ['MetricsAvailable', '/readyz', 'log'];
const MEASURED: Place[] = ['MetricsAvailable', 'log'];
const rows: Row[] = [
  // Before the others, since the namespace that one of them makes cannot be taken away here.
  { verb: 'create', resource: 'namespaces', told: MEASURED, works: ALL },
  { verb: 'patch', resource: 'namespaces', told: MEASURED, works: ALL },
  // What the operator measures with.
  { verb: 'watch', resource: 'namespaces', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'serviceaccounts', told: MEASUREMENT, works: ALL },
  { verb: 'create', resource: 'serviceaccounts', told: MEASURED, works: ALL },
  { verb: 'patch', resource: 'serviceaccounts', told: MEASURED, works: ALL },
  { verb: 'create', resource: 'services', told: MEASURED, works: ALL },
  { verb: 'patch', resource: 'services', told: MEASURED, works: ALL },
  { verb: 'create', resource: 'daemonsets', told: MEASURED, works: ALL },
  { verb: 'watch', resource: 'endpointslices', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'daemonsets', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'services', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'configmaps', told: MEASUREMENT, works: ALL },
  { verb: 'watch', resource: 'pods', told: MEASUREMENT, works: ALL },
  { verb: 'patch', resource: 'daemonsets', told: MEASURED, works: ALL },
  // A Prometheus of its own, of which nothing runs here: no figures, and so no label.
  { verb: 'create', resource: 'configmaps', told: MEASURED, works: ['lease'], ownPrometheus: true },
  { verb: 'patch', resource: 'configmaps', told: MEASURED, works: ['lease'], ownPrometheus: true },
  // A watch begins with the list.
  { verb: 'list', resource: 'endpointslices', told: [], works: ALL },
  // What it writes for a TrafficWatch.
  { verb: 'patch', resource: 'nodes', told: ['Reconciling'], works: ['Deployment', 'status', 'lease'] },
  { verb: 'get', resource: 'deployments', told: ['Reconciling'], works: ['label', 'status', 'lease'] },
  { verb: 'create', resource: 'deployments', told: ['Reconciling'], works: ['label', 'status', 'lease'] },
  { verb: 'patch', resource: 'deployments', told: ['Reconciling'], works: ['label', 'status', 'lease'] },
  { verb: 'watch', resource: 'deployments', told: ['Reconciling', '/readyz', 'log'], works: ALL },
  // What it reads for a workload that it does not own.
  { verb: 'get', resource: 'statefulsets', told: ['TargetFound'], works: ['label', 'status', 'lease'], foreign: true },
  {
    verb: 'list',
    resource: 'mutatingadmissionpolicies',
    told: ['InjectionUnavailable'],
    works: ['label', 'status', 'lease'],
    foreign: true,
  },
  // Without the finalizer nothing is written that would have to be taken away again.
  { verb: 'patch', resource: 'trafficwatches', told: ['Reconciling'], works: ['status', 'lease'] },
  { verb: 'patch', resource: 'trafficwatches/status', told: ['log'], works: ['label', 'Deployment', 'lease'] },
  { verb: 'create', resource: 'events', told: ['log'], works: ALL },
  // Without these there is nothing to decide from, or nobody who may write.
  { verb: 'watch', resource: 'nodes', told: ['/readyz', 'log'], works: [] },
  { verb: 'watch', resource: 'trafficwatches', told: ['/readyz', 'log'], works: [] },
  { verb: 'get', resource: 'leases', told: ['log'], works: [] },
  { verb: 'create', resource: 'leases', told: ['log'], works: [] },
  { verb: 'update', resource: 'leases', told: ['log'], works: [] },
  // The watch only wakes a standby sooner.
  { verb: 'watch', resource: 'leases', told: ['/readyz', 'log'], works: ALL },
];

/** Rights that deploy/ gives and that have no row: why. Patterns of 'verb resource'. */
const EXCEPTIONS: readonly [RegExp, string][] = [
  [/^list /, 'asked for where watch-lists are refused, or before a namespace goes; one row stands for all'],
  [/^delete /, 'only what is no longer wanted is deleted; told as a problem of the measurement like a patch'],
  [/ persistentvolumeclaims$/, 'asked for only where Prometheus has a volume of its own; told like configmaps'],
  [/^update trafficwatches\/finalizers$/, 'asked for by an admission plugin that is off by default'],
  [/^patch events$/, 'for an event that happens again within ten minutes; told like create'],
  [/^get (daemonsets|jobs|cronjobs)$/, 'other kinds of targets; told like statefulsets'],
  [/^get (pods|replicasets)$/, 'whose pod the operator is, which it is not here; only its owner is then unknown'],
  [/ connectivitychecks(\/status)?$/, 'of the connectivity check, which no decision about nodes depends on'],
  [/^patch pods$/, 'the annotation that makes the kubelet look at once; there is no pod of Prometheus here'],
];

/** Rules of the Role or ClusterRole in deploy/, without those of stacks and weights. */
function rulesOf(kind: 'Role' | 'ClusterRole'): V1PolicyRule[] {
  const documents = parseAllDocuments(MANIFESTS).map((document) => document.toJS() as V1ClusterRole | null);
  const [role, ...others] = documents.filter((object) => object?.kind === kind);
  expect(others).toEqual([]);
  return withoutOptionalRights(role!.rules!, NAMESPACE);
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
  // So that the next operator has them to make.
  const exporter = { namespace: `${NAMESPACE}-node-exporter`, name: 'node-exporter' };
  for (const resource of [DAEMONSETS, SERVICES, SERVICE_ACCOUNTS] as Resource[])
    await f.client.delete(resource, exporter);
  const name = 'prometheus-config';
  await f.client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name });
  await f.client.delete(LEASES, { namespace: NAMESPACE, name: 'traffic-operator' });
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

it('every right that deploy/ gives has a row, or a reason to have none', () => {
  const rights = (['ClusterRole', 'Role'] as const)
    .flatMap(rulesOf)
    .flatMap(({ verbs, resources = [] }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
  const hasRow = (right: string): boolean => rows.some(({ verb, resource }) => right === `${verb} ${resource}`);
  const isException = (right: string): boolean => EXCEPTIONS.some(([pattern]) => pattern.test(right));
  expect(rights.filter((right) => !hasRow(right) && !isException(right))).toEqual([]);
  const idle = EXCEPTIONS.filter(([pattern]) => !rights.some((right) => pattern.test(right)));
  expect(idle).toEqual([]);
});

describe('an operator that lacks a right', () => {
  it.each(rows)('to $verb $resource', async (row) => {
    const name = `no-${row.verb}-${row.resource.replace('/', '-')}`;
    const kubeconfig = await userWithout(row, name);
    const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
    await f.createWatch(name, { maxBandwidthPercent: '10', ...(row.foreign === true ? { targetRef } : {}) });
    const args = [`--namespace=${NAMESPACE}`, '--leader-elect', '--node-exporter'];
    const over = row.ownPrometheus === true ? { prometheusUrl: undefined } : {};
    if (row.ownPrometheus === true) args.push('--scrape-interval=1s');
    const begin = performance.now();
    await withNodeOptions(`--import=${LATER}`, () => f.startOperator(args, { kubeconfig, until: 'alive', ...over }));
    const words = `cannot ${row.verb} resource "${row.resource}"`;
    for (const place of row.told) {
      await vi.waitFor(async () => expect(await textIn(place, name), place).toContain(words), WAIT);
    }
    if (row.told.length > 0) measured(`${name}: told everywhere ${seconds(performance.now() - begin)} after the start`);
    for (const work of row.works) await vi.waitFor(() => checks[work](name), WAIT);
    if (row.told.length > 0) return;
    await vi.waitFor(async () => expect(await textIn('/readyz', name)).toBe('ok\n'), WAIT);
    expect(await textIn('log', name)).not.toContain(words);
  });
});
