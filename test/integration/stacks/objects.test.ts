import type { V1Ingress, V1Job, V1Role } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { objectKindOf } from '../../../src/api/trafficstack/objectKinds.ts';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, INGRESSES, JOBS, SERVICE_ACCOUNTS } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { component, PERSON, startScene, WAIT, type StackScene } from './scene.ts';

/** Components of the type Objects, on a real API server, with the rights of the chart for the kinds that are allowed. */
const USER = 'objects-operator';
const KINDS = [
  'networking.k8s.io/v1/ingresses/Ingress',
  'v1/serviceaccounts/ServiceAccount',
  'rbac.authorization.k8s.io/v1/roles/Role',
  'example.org/v1/things/Thing',
  'batch/v1/jobs/Job',
];
const RESOURCES = KINDS.map((text) => objectKindOf(text)!);
const ROLES = RESOURCES[2]!;
let s: StackScene;

beforeAll(async () => {
  s = await startScene(USER, {
    args: KINDS.map((kind) => `--stack-object-kind=${kind}`),
    rights: (all) => [
      ...all,
      ...RESOURCES.map(({ group, plural }) => ({
        ...{ apiGroups: [group], resources: [plural] },
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      })),
    ],
  });
  await s.startOperator();
});
afterAll(() => s.stop());

const HAS_ADDRESS = 'object.status.?loadBalancer.?ingress.orValue([]).size() > 0';
const NAME = { namespace: 'default', name: 'web' };
const manifest = (kind: string, name: string, content: object = {}) => {
  const { group, version } = RESOURCES.find((each) => each.kind === kind)!;
  return { apiVersion: [group, version].filter(Boolean).join('/'), kind, metadata: { name }, ...content };
};
const ingress = (host = 'a.example.org') =>
  manifest('Ingress', 'web', {
    spec: { defaultBackend: { service: { name: host.replaceAll('.', '-'), port: { number: 80 } } } },
  });
const edge = (...manifests: NonNullable<ComponentSpec['objects']>['manifests']): ComponentSpec => ({
  ...{ name: 'edge', type: 'Objects', dependsOn: ['db'] },
  objects: { namespace: 'default', manifests },
});
const db = component('db');
const web = component('web', { dependsOn: ['edge'] });
const live = () => s.f.client.get<V1Ingress>(INGRESSES, NAME);
/** The writes of the operator, since then. */
const writesSince = (since: number): string[] => {
  const all = writesOf(s.f.controlPlane, USER).flatMap(({ verb, resource, name, code, at }) =>
    at >= since && code < 300 && !/trafficstacks|events|controllerrevisions/.test(resource)
      ? [`${verb} ${resource}/${name}`]
      : [],
  );
  return all.filter((each, index) => each !== all[index - 1]);
};

describe('Objects', () => {
  it('come after what they depend on, and before what depends on them, when they are ready', async () => {
    await s.create('main', [
      web,
      edge({ object: manifest('ServiceAccount', 'web') }, { object: ingress(), readyWhen: HAS_ADDRESS }),
      db,
    ]);
    await s.becomes('edge', {
      ...{ type: 'Objects', state: 'Progressing', reason: 'NotReadyYet' },
      message: 'Ingress default/web is not ready: readyWhen is false',
    });
    await s.becomes('web', { state: 'Waiting', waitingOn: { component: 'edge', what: 'Ingress default/web' } });
    expect((await live()).metadata).toMatchObject({
      labels: { 'traffic.example.com/stack': 'main', 'traffic.example.com/component': 'edge' },
      ownerReferences: [{ kind: 'TrafficStack', name: 'main', controller: true }],
    });
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } };
    await s.f.client.mergePatch(INGRESSES, NAME, { status }, { ...PERSON, subresource: 'status' });
    await s.ready();
    expect(writesSince(0).filter((each) => each.startsWith('patch'))).toEqual([
      'patch deployments/db',
      ...['patch serviceaccounts/web', 'patch ingresses/web', 'patch deployments/web'],
    ]);
  });

  it('are corrected, changed without a new object, and deleted when they leave the spec', async () => {
    const { metadata } = await live();
    await s.f.client.mergePatch(INGRESSES, NAME, { spec: { defaultBackend: { service: { name: 'theirs' } } } }, PERSON);
    const backend = async () => (await live()).spec?.defaultBackend?.service?.name;
    await vi.waitFor(async () => expect(await backend()).toBe('a-example-org'), WAIT);
    await s.change('main', [web, edge({ object: ingress('b.example.org'), readyWhen: HAS_ADDRESS }), db]);
    await s.ready();
    expect([await backend(), (await live()).metadata?.uid]).toEqual(['b-example-org', metadata?.uid]);
    await vi.waitFor(() => expect(s.f.client.get(SERVICE_ACCOUNTS, NAME)).rejects.toSatisfy(isNotFound), WAIT);
  });

  it('of a kind that is not allowed are refused with what to do, and nothing is written', async () => {
    const since = Date.now();
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' } };
    await s.change('main', [component('web', { image: 'web:2', dependsOn: ['edge'] }), edge({ object: secret }), db]);
    await vi.waitFor(async () => {
      const { status, reason, message } = (await s.condition('Stalled')) ?? {};
      expect([status, reason]).toEqual(['True', 'InvalidComponents']);
      expect(message).toContain(
        'component edge, objects.manifests[0].object: the kind Secret of v1 is not allowed; the administrator can allow it with stacks.objectKinds',
      );
    }, WAIT);
    expect(writesSince(since)).toEqual([]);
    await expect(s.change('main', [edge({ object: { kind: 'Ingress' } }), db])).rejects.toThrow(/apiVersion/);
  });

  it('cannot grant what the operator may not do: the API server refuses such a Role', async () => {
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    await s.change('main', [web, edge({ object: manifest('Role', 'web', { rules }) }), db]);
    await vi.waitFor(async () => {
      const { reason, message } = (await s.component('edge')) ?? {};
      expect([reason, message]).toEqual([
        'WriteFailed',
        expect.stringMatching(/Role default\/web.*(forbidden|may not)/),
      ]);
    }, WAIT);
    await expect(s.f.client.get(ROLES, NAME)).rejects.toSatisfy(isNotFound);
    const own = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    await s.change('main', [web, edge({ object: manifest('Role', 'web', { rules: own }) }), db]);
    await s.ready();
    expect((await s.f.client.get<V1Role>(ROLES, NAME)).rules).toEqual(own);
  });

  it('of a kind without its CRD are named, and nothing else waits', async () => {
    await s.change('main', [web, edge({ object: manifest('Thing', 'web') }), db]);
    await s.becomes('edge', {
      reason: 'WriteFailed',
      message: 'Thing default/web: the API server does not serve things.example.org: its CRD is not installed',
    });
    await s.becomes('db', { state: 'Ready' });
  });

  it('are deleted with the stack, in the order of the dependencies', async () => {
    await s.change('main', [web, edge({ object: ingress() }), db]);
    await s.ready();
    const since = Date.now();
    await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
    await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
    expect(writesSince(since)).toEqual(['delete deployments/web', 'delete ingresses/web', 'delete deployments/db']);
  });
});

describe('Jobs', () => {
  const MIGRATE = { namespace: 'default', name: 'migrate' };
  const migrate = (version: number): ComponentSpec => {
    const containers = [
      { name: 'migrate', image: `migrate:${version}`, envFrom: [{ secretRef: { name: 'database' } }] },
    ];
    const spec = { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers } } };
    const object = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' }, spec };
    return { name: 'migrate', type: 'Objects', objects: { namespace: 'default', manifests: [{ object }] } };
  };
  const app = (version: number) => component('web', { dependsOn: ['migrate'], image: `web:${version}` });
  const job = () => s.f.client.get<V1Job>(JOBS, MIGRATE);
  const uidOf = async (): Promise<string | undefined> => (await job()).metadata?.uid;
  /** As the controller of Jobs reports its end. No controller runs here that would make pods. */
  const end = async (type: 'Complete' | 'Failed') => {
    const now = new Date().toISOString();
    const condition = (of: string) => ({
      type: of,
      status: 'True',
      reason: 'R',
      message: 'why',
      lastTransitionTime: now,
    });
    const status = {
      ...{ startTime: now, uncountedTerminatedPods: {} },
      ...(type === 'Complete'
        ? { completionTime: now, succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] }
        : { failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] }),
    };
    await s.f.client.mergePatch(JOBS, MIGRATE, { status }, { ...PERSON, subresource: 'status' });
  };
  const imageOfWeb = async () => {
    const [found] = (await s.f.client.list(DEPLOYMENTS)).filter(({ metadata }) => metadata?.name === 'web');
    return found?.spec?.template.spec?.containers[0]?.image;
  };

  it('run before what depends on them, and not again when they are deleted after their end', async () => {
    await s.create('main', [app(1), migrate(1)]);
    await s.becomes('migrate', { state: 'Progressing', reason: 'NotReadyYet' });
    expect(await imageOfWeb()).toBeUndefined();
    await end('Complete');
    await s.ready();
    await s.f.client.delete(JOBS, MIGRATE, { propagationPolicy: 'Background' });
    await s.change('main', [app(2), migrate(1)]);
    await vi.waitFor(async () => expect(await imageOfWeb()).toBe('web:2'), WAIT);
    await s.ready();
    await s.restartOperator();
    await s.change('main', [app(3), migrate(1)]);
    await vi.waitFor(async () => expect(await imageOfWeb()).toBe('web:3'), WAIT);
    await expect(job()).rejects.toSatisfy(isNotFound);
  });

  it('run again with another manifest, which replaces them, and hold what depends on them while they have failed', async () => {
    await s.change('main', [app(3), migrate(2)]);
    await vi.waitFor(uidOf, WAIT);
    await end('Complete');
    await s.ready();
    const second = await uidOf();
    await s.change('main', [app(4), migrate(3)]);
    await vi.waitFor(async () => expect(await uidOf()).not.toBe(second), WAIT);
    await end('Failed');
    await s.becomes('migrate', {
      ...{ state: 'Failed', reason: 'ObjectFailed' },
      message: 'Job default/migrate has failed: R: why; to run it again, change its manifest or delete it',
    });
    await s.becomes('web', { state: 'Waiting', waitingOn: { component: 'migrate', what: 'Job default/migrate' } });
    expect(await imageOfWeb()).toBe('web:3');
    const third = await uidOf();
    await s.f.client.delete(JOBS, MIGRATE, { propagationPolicy: 'Background' });
    await vi.waitFor(async () => expect(await uidOf()).not.toBe(third), WAIT);
    await end('Complete');
    await vi.waitFor(async () => expect(await imageOfWeb()).toBe('web:4'), WAIT);
    await s.ready();
  });
});
