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
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import { installCrd, trafficStackCrd } from '../harness/customResource.ts';
import { measured, seconds } from '../harness/measured.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * The operator's process with the rights that deploy/ gives it, except some that do not hide one another, and the rights of stacks of users and
 * weights, which do not run here.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const NAMESPACE = 'traffic-operator-system';
const PERSON = { fieldManager: 'person' };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const MANIFESTS = readFileSync(new URL('../../deploy/operator.yaml', import.meta.url), 'utf8');
/** Two minutes ahead: a node that has just been made has long joined. */
const LATER = new URL('../harness/shiftClock.ts?seconds=120', import.meta.url).href;

/** The place where a user reads it: a condition of the TrafficWatch, the readiness probe, the log. */
type Place = 'Reconciling' | 'MetricsAvailable' | 'TargetFound' | 'InjectionUnavailable' | '/readyz' | 'log';
/** The parts that still work: the node's label, the Deployment, the counts in the status, the Lease. */
type Work = 'label' | 'Deployment' | 'status' | 'lease';

/** A verb and a resource, with its subresource. */
type Right = `${string} ${string}`;

/** An operator that lacks some rights. */
interface Row {
  readonly why: string;
  /** The places that report each right; none if it is not missed. */
  readonly lacks: Readonly<Record<Right, readonly Place[]>>;
  readonly works: readonly Work[];
  readonly ownPrometheus?: boolean;
  /** The TrafficWatch names a StatefulSet instead of a Deployment of its own. */
  readonly foreign?: boolean;
  /** The TrafficWatch has a podSelector instead. */
  readonly selects?: boolean;
}

const ALL: Work[] = ['label', 'Deployment', 'status', 'lease'];
const MEASURED: Place[] = ['MetricsAvailable', 'log'];
const WATCHED: Place[] = ['/readyz', 'log'];
const RECONCILED: Place[] = ['Reconciling'];
const rows: readonly Row[] = [
  {
    // Before the others, since the namespace that one of them makes cannot be taken away here.
    why: 'the namespace of the exporter cannot be made, and the Deployment cannot be read',
    lacks: { 'create namespaces': MEASURED, 'get deployments': RECONCILED },
    works: ['label', 'status', 'lease'],
  },
  {
    why: 'the same is made by a patch, and the Deployment with a POST',
    lacks: { 'patch namespaces': MEASURED, 'create deployments': RECONCILED },
    works: ['label', 'status', 'lease'],
  },
  {
    why: 'of what is in the namespace, one object is not made, and so none after it; the Deployment is made, and not applied',
    lacks: { 'create serviceaccounts': MEASURED, 'patch deployments': RECONCILED },
    works: ['label', 'status', 'lease'],
  },
  {
    why: 'the same, which is made by a patch, and no node is labelled',
    lacks: { 'patch serviceaccounts': MEASURED, 'patch nodes': RECONCILED },
    works: ['Deployment', 'status', 'lease'],
  },
  { why: 'another object is not made', lacks: { 'create services': MEASURED }, works: ALL },
  { why: 'the same by a patch', lacks: { 'patch services': MEASURED }, works: ALL },
  { why: 'nothing is deployed, and nodes are watched', lacks: { 'create trafficstacks': ['log'] }, works: ALL },
  {
    why: 'the stack has no finalizer, without which nothing of it is made',
    lacks: { 'patch trafficstacks': ['log'] },
    works: ALL,
  },
  {
    why: 'nothing of a stack is made before its status names it',
    lacks: { 'patch trafficstacks/status': ['log'] },
    works: ALL,
  },
  {
    why: 'the DaemonSet waits for its ServiceAccount, so it has a row; the log reports events; a watch begins with the list',
    lacks: { 'create daemonsets': MEASURED, 'create events': ['log'], 'list endpointslices': [] },
    works: ALL,
  },
  {
    why: 'no condition can say it without the status',
    lacks: { 'patch daemonsets': ['log'], 'patch trafficwatches/status': ['log'] },
    works: ['label', 'Deployment', 'lease'],
  },
  {
    why: 'no cache of the measurement is filled, nor the cache of Deployments; the watch of the Lease only wakes a standby sooner',
    lacks: {
      'watch namespaces': [...WATCHED, 'MetricsAvailable'],
      'watch serviceaccounts': WATCHED,
      'watch services': WATCHED,
      'watch daemonsets': WATCHED,
      'watch configmaps': WATCHED,
      'watch endpointslices': WATCHED,
      'watch pods': WATCHED,
      'watch podplacements': WATCHED,
      'watch deployments': [...WATCHED, 'Reconciling'],
      'watch leases': WATCHED,
      'watch trafficstacks': WATCHED,
      'watch controllerrevisions': WATCHED,
    },
    works: ALL,
  },
  {
    why: 'a Prometheus of its own, of which nothing runs here: no figures, and so no label',
    lacks: { 'create configmaps': MEASURED },
    works: ['lease'],
    ownPrometheus: true,
  },
  {
    why: 'the same, where its configuration is made by a patch',
    lacks: { 'patch configmaps': MEASURED },
    works: ['lease'],
    ownPrometheus: true,
  },
  {
    why: 'of a workload that it does not own, it reads the selector and whether the policy is there',
    lacks: { 'get statefulsets': ['TargetFound'], 'list mutatingadmissionpolicies': ['InjectionUnavailable'] },
    works: ['label', 'status', 'lease'],
    foreign: true,
  },
  {
    why: 'its pods get no affinity: what the policy reads is not made',
    lacks: { 'create podplacements': ['InjectionUnavailable'] },
    works: ['label', 'status', 'lease'],
    selects: true,
  },
  {
    why: 'the same, where it is made by an apply',
    lacks: { 'patch podplacements': ['InjectionUnavailable'] },
    works: ['label', 'status', 'lease'],
    selects: true,
  },
  {
    why: 'without the finalizer nothing is written that would have to be taken away again',
    lacks: { 'patch trafficwatches': RECONCILED },
    works: ['status', 'lease'],
  },
  {
    why: 'there is nothing to decide from',
    lacks: { 'watch nodes': WATCHED, 'watch trafficwatches': WATCHED },
    works: [],
  },
  { why: 'nobody knows who may write', lacks: { 'get leases': ['log'] }, works: [] },
  { why: 'nobody may write', lacks: { 'create leases': ['log'] }, works: [] },
  { why: 'nobody may write for long', lacks: { 'update leases': ['log'] }, works: [] },
];

/** Rights that deploy/ gives and that have no row: why. Patterns of 'verb resource'. */
const EXCEPTIONS: readonly [RegExp, string][] = [
  [/^list /, 'asked for where watch-lists are refused, or before a namespace goes; one row stands for all'],
  [/^delete /, 'only what is no longer wanted is deleted; told as a problem of the measurement like a patch'],
  [/ persistentvolumeclaims$/, 'asked for only where Prometheus has a volume of its own; told like configmaps'],
  [/^update (trafficwatches|trafficstacks)\/finalizers$/, 'asked for by an admission plugin that is off by default'],
  [/^patch events$/, 'for an event that happens again within ten minutes; told like create'],
  [/^get (daemonsets|jobs|cronjobs)$/, 'other kinds of targets; told like statefulsets'],
  [/^get (services|serviceaccounts|configmaps)$/, 'read before they are made; told like create'],
  [/^(get|create|patch) controllerrevisions$/, 'only for a stack with spec.upgrade.rollback; told like configmaps'],
  [/^get (pods|replicasets)$/, 'whose pod the operator is, which it is not here; only its owner is then unknown'],
  [/ connectivitychecks(\/status)?$/, 'of the connectivity check, which no decision about nodes depends on'],
  [/^patch pods$/, 'the annotation that makes the kubelet look at once; there is no pod of Prometheus here'],
];

/** Rules of the Role or ClusterRole of the manager in deploy/, without the rules of stacks. */
function rulesOf(kind: 'Role' | 'ClusterRole'): V1PolicyRule[] {
  const documents = parseAllDocuments(MANIFESTS).map((document) => document.toJS() as V1ClusterRole | null);
  const isOfManager = ({ metadata }: V1ClusterRole): boolean => !/-(stacks|weights)$/.test(metadata?.name ?? '');
  const [role, ...others] = documents.filter((object) => object?.kind === kind && isOfManager(object));
  expect(others).toEqual([]);
  return role!.rules!;
}

function without(rules: V1PolicyRule[], right: string): V1PolicyRule[] {
  const [verb, resource = ''] = right.split(' ');
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
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
  // One that nothing is known of, so that MetricsAvailable has something to explain.
  await f.addNode('n2');
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  // So that a missing policy does not hide a missing PodPlacement.
  await installPlacementPolicy(f.client);
});
afterEach(async () => {
  await f.stopOperator();
  // So that the next operator has them to make.
  await f.client
    .mergePatch(TRAFFIC_STACKS, { name: 'default' }, { metadata: { finalizers: null } }, PERSON)
    .catch(() => undefined);
  await f.client.delete(TRAFFIC_STACKS, { name: 'default' });
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

/** A user with all rights of deploy/ but these; returns its kubeconfig. */
async function userWithout(lacks: readonly string[], name: string): Promise<string> {
  const taken = new Set<string>();
  for (const [kind, where] of [
    ['ClusterRole', {}],
    ['Role', { namespace: NAMESPACE }],
  ] as const) {
    let rules = rulesOf(kind);
    for (const right of lacks) {
      const all = rules;
      rules = without(all, right);
      if (JSON.stringify(rules) !== JSON.stringify(all)) taken.add(right);
    }
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
  expect([...taken].sort(), 'deploy/ gives the rights at all').toEqual([...lacks].sort());
  return f.controlPlane.user(name);
}

/** Everything that a user reads in one place. */
async function textIn(place: Place, watch: string): Promise<string> {
  if (place === 'log') return f.operator().log().replaceAll('\\"', '"');
  if (place === '/readyz') return (await fetch(`${f.operator().healthUrl}/readyz`)).text();
  const { status } = await f.watch(watch);
  return status?.conditions?.find(({ type }) => type === place)?.message ?? '';
}

const checks: Record<Work, (watch: string) => Promise<void>> = {
  label: async (watch) => expect(await f.labels(unfitKey(watch))).toEqual({ n1: 'false' }),
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
  const hasRow = (right: string): boolean => rows.some(({ lacks }) => Object.hasOwn(lacks, right));
  const isException = (right: string): boolean => EXCEPTIONS.some(([pattern]) => pattern.test(right));
  expect(rights.filter((right) => !hasRow(right) && !isException(right))).toEqual([]);
  const idle = EXCEPTIONS.filter(([pattern]) => !rights.some((right) => pattern.test(right)));
  expect(idle).toEqual([]);
});

describe('an operator that lacks rights', () => {
  it.each(rows.map((row, index) => ({ ...row, name: `lacking-${index}` })))(
    '$why',
    async ({ name, lacks, works, ...row }) => {
      const kubeconfig = await userWithout(Object.keys(lacks), name);
      const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
      const podSelector = { matchLabels: { app: name } };
      const workload = row.foreign === true ? { targetRef } : row.selects === true ? { podSelector } : {};
      await f.createWatch(name, { maxBandwidthPercent: '10', ...workload });
      const args = [`--namespace=${NAMESPACE}`, '--leader-elect', '--node-exporter'];
      const over = row.ownPrometheus === true ? { prometheusUrl: undefined } : {};
      if (row.ownPrometheus === true) args.push('--scrape-interval=1s');
      const begin = performance.now();
      await withNodeOptions(`--import=${LATER}`, () => f.startOperator(args, { kubeconfig, until: 'alive', ...over }));
      const wordsOf = (right: string): string => `cannot ${right.replace(' ', ' resource "')}"`;
      for (const [right, told] of Object.entries(lacks)) {
        for (const place of told) {
          await vi.waitFor(async () => expect(await textIn(place, name), place).toContain(wordsOf(right)), WAIT);
        }
      }
      measured(
        `${Object.keys(lacks).join(', ')}: told everywhere ${seconds(performance.now() - begin)} after the start`,
      );
      for (const work of works) await vi.waitFor(() => checks[work](name), WAIT);
      const unmissed = Object.keys(lacks).filter((right) => lacks[right as Right]?.length === 0);
      if (unmissed.length === 0) return;
      await vi.waitFor(async () => expect(await textIn('/readyz', name)).toBe('ok\n'), WAIT);
      for (const right of unmissed) expect(await textIn('log', name)).not.toContain(wordsOf(right));
    },
  );
});
