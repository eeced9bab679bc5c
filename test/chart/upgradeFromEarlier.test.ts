import { readFileSync } from 'node:fs';
import type { V1OwnerReference, V1PodTemplateSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import type { KubeObject, Resource } from '../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../src/runtime/client/resources.ts';
import { appliedBy } from '../harness/appliedBy.ts';
import { arrived, writesOf } from '../harness/audit.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { CHART } from './cluster.ts';
import { EARLIER_CHART, EARLIER_OBJECTS, EXPORTER, NAMESPACE, OPERATOR, PROMETHEUS, Release } from './earlier/scene.ts';

/**
 * The upgrade from the chart and the operator of b54efd4d, whose rights and stack `default` were wider: with the policies of both charts, and with
 * the rights and the arguments that each chart gives.
 */
const { objects: RECORDED } = JSON.parse(readFileSync(EARLIER_OBJECTS, 'utf8')) as { objects: readonly KubeObject[] };
const USER = `system:serviceaccount:${NAMESPACE}:traffic-operator`;
const UNFIT = 'web.traffic.example.com/unfit';
const WAIT = { timeout: 120_000, interval: 300 };
const WEB = { namespace: 'default', name: 'web' };
const RESOURCES = [
  ...[TRAFFIC_STACKS, TRAFFIC_WATCHES, NODES, NAMESPACES, SERVICE_ACCOUNTS, CONFIG_MAPS, SERVICES],
  ...[PERSISTENT_VOLUME_CLAIMS, DAEMONSETS, DEPLOYMENTS],
] as readonly Resource[];
interface Foreign {
  readonly resource: Resource;
  readonly ref: { readonly namespace: string; readonly name: string };
}
/** Objects of another owner, also where the operator has rights. */
const FOREIGN = ['default', NAMESPACE].flatMap((namespace): Foreign[] => [
  { resource: DEPLOYMENTS, ref: { namespace, name: 'theirs' } },
  { resource: CONFIG_MAPS, ref: { namespace, name: 'theirs' } },
]);
/** Verb, resource and namespace of what stacks of users needed, which are off by default now. */
const WIDE = [
  ['create', 'statefulsets.apps', 'default'],
  ['delete', 'statefulsets.apps', NAMESPACE],
  ['create', 'configmaps', 'default'],
  ['patch', 'configmaps', NAMESPACE],
  ['delete', 'services', 'default'],
  ['delete', 'pods', 'default'],
] as const;

let r: Release;
let before: Awaited<ReturnType<typeof state>>;

beforeAll(async () => {
  r = await Release.start((name, value) => vi.stubEnv(name, value));
  await r.install(EARLIER_CHART);
  await r.createOperatorPod();
  await vi.waitFor(async () => expect((await r.cluster.kubectl(['get', 'tw'])).ok).toBe(true), WAIT);
  for (const object of RECORDED) await replay(object);
  await r.reportAvailable();
  await createForeign();
  before = await state();
});
afterAll(() => r.stop());

/** Writes an object as that version did: by the same field managers, with the present uids of its owners. */
async function replay(object: KubeObject & { status?: unknown }): Promise<void> {
  const { client } = r.f;
  const { kind, status, metadata = {} } = object;
  const resource = resourceOf(object);
  const ref = { namespace: metadata.namespace, name: metadata.name ?? '' };
  const [{ manager = '' } = {}] = metadata.managedFields ?? [];
  if (kind === 'Node') {
    const labels = { [UNFIT]: metadata.labels?.[UNFIT] };
    await client.mergePatch(resource, ref, { metadata: { labels } }, { fieldManager: manager });
  } else if (status === undefined) {
    const managers = metadata.managedFields?.filter(({ operation }) => operation === 'Apply') ?? [];
    for (const each of managers) {
      await client.apply(resource, await owned(appliedBy(object, each.manager ?? '')), {
        fieldManager: each.manager ?? '',
        force: true,
      });
    }
  } else {
    const { spec } = object as { spec?: unknown };
    const made = {
      ...{ apiVersion: object.apiVersion, kind, spec },
      metadata: { ...metadata, managedFields: undefined },
    };
    await client.create(resource, made, { fieldManager: manager });
    await client.mergePatch(resource, ref, { status }, { fieldManager: manager, subresource: 'status' });
  }
}

function resourceOf({ kind }: KubeObject): Resource {
  const found = RESOURCES.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`a ${kind} was recorded, and is not known here`);
  return found;
}

async function owned(object: KubeObject): Promise<KubeObject> {
  const references = object.metadata?.ownerReferences?.map(async (each): Promise<V1OwnerReference> => {
    const namespace = object.metadata?.namespace;
    const owner = await r.f.client.get(resourceOf(each as KubeObject), {
      ...(namespace && { namespace }),
      name: each.name,
    });
    return { ...each, uid: owner.metadata?.uid ?? '' };
  });
  if (references === undefined) return object;
  return { ...object, metadata: { ...object.metadata, ownerReferences: await Promise.all(references) } };
}

async function createForeign(): Promise<void> {
  const labels = { app: 'theirs' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'theirs:7' }] } };
  for (const { resource, ref } of FOREIGN) {
    const content =
      resource === DEPLOYMENTS ? { spec: { selector: { matchLabels: labels }, template } } : { data: { a: 'b' } };
    await r.f.client.create(resource, { metadata: ref, ...content });
  }
}

const versionOf = ({ metadata }: KubeObject) => [metadata?.uid, metadata?.resourceVersion];

/** Reads everything that the upgrade must not change. */
async function state() {
  const { client } = r.f;
  const foreign = await Promise.all(FOREIGN.map(({ resource, ref }) => client.get(resource, ref)));
  const workload = async (resource: Resource, ref: { namespace: string; name: string }) => {
    const { metadata, spec } = (await client.get(resource, ref)) as KubeObject & {
      spec: { template: V1PodTemplateSpec };
    };
    return { uid: metadata?.uid, template: spec.template };
  };
  return {
    foreign: foreign.map(versionOf),
    nodes: (await client.list(NODES)).map(versionOf),
    web: await workload(DEPLOYMENTS, WEB),
    prometheus: await workload(DEPLOYMENTS, PROMETHEUS),
    exporter: await workload(DAEMONSETS, EXPORTER),
    operator: (await client.get(DEPLOYMENTS, OPERATOR)).metadata?.uid,
    others: await ownUids(),
  };
}

/** All other objects of the operator. */
async function ownUids(): Promise<string[]> {
  const kinds = [SERVICE_ACCOUNTS, SERVICES, CONFIG_MAPS, NAMESPACES, TRAFFIC_STACKS, TRAFFIC_WATCHES] as Resource[];
  const lists = await Promise.all(kinds.map((each) => r.f.client.list(each)));
  const recorded = new Set(RECORDED.map(({ kind, metadata }) => `${kind} ${metadata?.namespace} ${metadata?.name}`));
  return lists.flatMap((list, n) =>
    list.flatMap(({ metadata }) => {
      const id = `${kinds[n]!.kind} ${metadata?.namespace} ${metadata?.name}`;
      return recorded.has(id) ? [`${id} ${metadata?.uid}`] : [];
    }),
  );
}

async function allowed(): Promise<string[]> {
  const asked = WIDE.map(async ([verb, resource, namespace]) => {
    const { text } = await r.cluster.kubectl(['auth', 'can-i', verb, resource, '-n', namespace, `--as=${USER}`]);
    return `${verb} ${resource} in ${namespace}: ${text.trim()}`;
  });
  return Promise.all(asked);
}
const withAnswer = (answer: 'yes' | 'no') =>
  WIDE.map(([verb, resource, namespace]) => `${verb} ${resource} in ${namespace}: ${answer}`);

it('the earlier operator had wide rights, its own Prometheus and exporter, and legacy labels', async () => {
  expect(await allowed()).toEqual(withAnswer('yes'));
  expect(await r.f.labels(UNFIT)).toEqual({ n1: 'true', n2: 'false' });
  expect((await r.f.watch('web')).status?.labelKey).toBe(UNFIT);
  expect(before.exporter.template.spec?.affinity).toBeUndefined();
  expect(before.others).toHaveLength(RECORDED.length - ['n1', 'n2', 'web', 'prometheus', 'node-exporter'].length);
});

it('the upgrade takes the wide rights away, and the operator needs none of them', async () => {
  await r.install(CHART);
  expect((await r.f.client.get(DEPLOYMENTS, OPERATOR)).metadata?.uid).toBe(before.operator);
  await vi.waitFor(async () => expect(await allowed()).toEqual(withAnswer('no')), WAIT);
  await r.startOperator();
  await r.ready();
  const refused = arrived(r.f.controlPlane).filter(({ user, isForbidden }) => user === USER && isForbidden);
  expect(refused).toEqual([]);
});

it('nothing restarts but node-exporter, which leaves out virtual nodes now', async () => {
  await vi.waitFor(async () => {
    expect((await state()).exporter.template.spec?.affinity).toBeDefined();
  }, WAIT);
  await r.ready();
  const after = await state();
  delete after.exporter.template.spec?.affinity;
  expect(after).toEqual(before);
});

it('writes no Node and deletes nothing, also after more measurements', async () => {
  const passes = async (): Promise<number> => (await metricsOf(r.f.operator())).sum('passes_total');
  const first = await passes();
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThan(first + 3), WAIT);
  const { nodes, foreign } = await state();
  expect([nodes, foreign]).toEqual([before.nodes, before.foreign]);
  const writes = writesOf(r.f.controlPlane, USER);
  expect(writes.filter(({ resource, verb }) => resource === 'nodes' || verb.startsWith('delete'))).toEqual([]);
  expect((await r.f.watch('web')).status?.labelKey).toBe(UNFIT);
});

it('labels go on to follow the traffic, with the legacy key', async () => {
  r.f.exporter.setPercent('n2', 60);
  await vi.waitFor(async () => expect(await r.f.labels(UNFIT)).toEqual({ n1: 'true', n2: 'true' }), WAIT);
  expect(Object.keys((await r.f.client.get(NODES, { name: 'n2' })).metadata?.labels ?? {})).toEqual([
    'kubernetes.io/hostname',
    UNFIT,
  ]);
});
