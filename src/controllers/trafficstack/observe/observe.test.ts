import { expect, it } from 'vitest';
import type {
  ComponentSpec,
  ComponentStatus,
  InventoryEntry,
  UsedObject,
} from '../../../api/trafficstack/trafficStack.ts';
import { BodyBudget, identityOf } from '../../../runtime/cache/bodyBudget.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { ExternalProvider } from '../../contract/builtIn.ts';
import type { DesiredComponent } from '../model/desired.ts';
import type { StackPod } from '../model/observation.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import { at, EVERYWHERE, NOW, pod, REVISION, stackOf } from '../testing/stacks.ts';
import { observe, type Observed } from './observe.ts';
import { trimPod } from './stackPod.ts';

const NOTHING_SEEN = { of: () => ({ available: new Map(), stable: new Map(), awaiting: new Map() }) };
const object = (name: string): KubeObject => ({ metadata: { namespace: 'monitoring', name } });
const PROMETHEUS: ExternalProvider = {
  ...{ resource: SERVICES, sought: 'a Prometheus', matches: () => true, problem: () => undefined },
  probe: { selectors: ['a=1'], metric: 'up', series: 'series', urlOf: () => 'http://prom' },
};
/** One that is found only with a Prometheus of another owner. */
const EXPORTER: ExternalProvider = {
  ...{ resource: DAEMONSETS, sought: 'an exporter', problem: () => undefined },
  matches: (_, used) => used.has('Prometheus'),
};

function target(name: string, type: ComponentSpec['type'], externalProvider: ExternalProvider): DesiredComponent {
  const spec = { name, type, mode: 'External' } as const;
  return { spec, externalProvider, objects: [], variables: {}, revision: REVISION };
}

it.each([
  ['answers', undefined, ['exporter', 'prom']],
  // It is used all the same.
  ['does not answer', 'does not answer', ['exporter', 'prom']],
])('an exporter is looked for with regard to the Prometheus that is used, which %s', async (_, problem, found) => {
  const where = {
    foreignObjects: {
      read: () => Promise.resolve(undefined),
      list: ({ resource }) => Promise.resolve([object(resource.kind === 'Service' ? 'prom' : 'exporter')]),
    },
    probes: {
      proof: () => Promise.resolve(problem === undefined ? { is: 'Proven' } : { is: 'Unproven', lack: problem }),
    },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 }, allowed: EVERYWHERE },
    firstSeen: NOTHING_SEEN,
  } as Partial<Observed> as Observed;
  const components = [target('exporter', 'NodeExporter', EXPORTER), target('metrics', 'Prometheus', PROMETHEUS)];
  const seen = await observe(stackOf([]), { components, upgrade: {} }, where, NOW);
  expect(seen.components.map(({ objects }) => objects[0]?.live?.metadata?.name)).toEqual(found);
});

const OWN = [SERVICES, DEPLOYMENTS].map((resource) => {
  return { resource, object: { kind: resource.kind, metadata: { namespace: 'op', name: 'prometheus' } } };
});
interface Before {
  /** Kinds of its objects that exist. */
  readonly present?: readonly string[];
  readonly inventory?: readonly InventoryEntry[];
  readonly status?: Partial<ComponentStatus>;
}

/** The server that a Prometheus with Auto uses if `other` and `prom` both answer. */
async function usedWithAuto({ present = [], inventory = [], status }: Before) {
  const cached = (kind: string) => ({ get: () => (present.includes(kind) ? object('prometheus') : undefined) });
  const where = {
    caches: {
      kinds: OWN.map(({ resource }) => ({ resource, overlay: cached(resource.kind) })),
      pods: { lister: { byIndex: () => [] } },
    },
    foreignObjects: {
      read: ({ object: sought }: { object: KubeObject }) =>
        Promise.resolve(sought.metadata?.name === 'prom' ? object('prom') : undefined),
      list: () => Promise.resolve([object('other'), object('prom')]),
    },
    probes: { proof: () => Promise.resolve({ is: 'Proven' }) },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 }, allowed: EVERYWHERE },
    firstSeen: NOTHING_SEEN,
  } satisfies { [K in keyof Observed]?: unknown } as unknown as Observed;
  const { spec, ...rest } = target('metrics', 'Prometheus', PROMETHEUS);
  const known = { name: 'metrics', type: 'Prometheus', state: 'Ready', reason: '', message: '', since: at(0) } as const;
  const stack = stackOf([], {
    ...(status && { components: [{ ...known, ...status }] }),
    inventory: [...inventory],
  });
  const components = [{ ...rest, spec: { ...spec, mode: 'Auto' as const }, objects: OWN }];
  const seen = await observe(
    { ...stack, metadata: { ...stack.metadata, deletionTimestamp: new Date(0) } },
    { components, upgrade: {} },
    where,
    NOW,
  );
  const [component] = seen.components;
  return component?.external === undefined ? 'its own' : component.objects[0]?.live?.metadata?.name;
}

const USES: UsedObject = { kind: 'Service', namespace: 'monitoring', name: 'prom', url: 'http://prom' };
it.each<[string, Before, string]>([
  ['nothing is there yet', {}, 'other'],
  ['its Deployment was deleted', { present: ['Service'] }, 'its own'],
  [
    'all was deleted',
    {
      inventory: [
        { component: 'metrics', dependsOn: [], objects: [{ kind: 'Deployment', namespace: 'op', name: 'prometheus' }] },
      ],
    },
    'its own',
  ],
  ['one was used until now', { status: { uses: USES, readyRevision: REVISION } }, 'prom'],
  [
    'one was named by the spec until now',
    { status: { uses: { ...USES, fromSpec: true }, readyRevision: REVISION } },
    'other',
  ],
  ['one was named, and has never answered', { status: { uses: USES, state: 'Progressing' } }, 'other'],
])('with Auto, the own Prometheus is kept, or another used: %s', async (_, before, is) => {
  expect(await usedWithAuto(before)).toBe(is);
});

/** Namespace/name of the pods that a removal waits for. @param live the workload of the inventory */
async function awaitedPods(pods: readonly StackPod[], live: KubeObject, allowed = EVERYWHERE): Promise<string[][]> {
  const where = {
    caches: {
      kinds: [{ resource: DEPLOYMENTS, overlay: { get: () => live } }],
      pods: { lister: { byIndex: (_: string, value: string) => (value === 'shop/main/web' ? pods : []) } },
    },
    nodes: { get: () => undefined },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 }, allowed },
    firstSeen: { of: () => undefined },
  } satisfies { [K in keyof Observed]?: unknown } as unknown as Observed;
  const objects = [{ kind: 'Deployment', namespace: 'shop', name: 'web' }];
  const inventory = ['web', 'other'].map((name) => ({ component: name, dependsOn: [], objects }));
  const { withPods } = await observe(stackOf([], { inventory }), { components: [], upgrade: {} }, where, NOW);
  return [...withPods].map(([name, found]) => [name, ...found.map(({ key }) => key)]);
}
const GONE = new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path: '/' });
const made = (name: string, workload: string): StackPod => ({ ...pod(name), workload });

it('the pods of a component are the pods that the workload of its inventory made, not the pods of a copy with its labels', async () => {
  const pods = [made('web-1', 'Deployment web'), made('copy-1', 'Deployment copy'), made('web-0', 'StatefulSet web')];
  const owner = { apiVersion: 'v1', kind: 'TrafficStack', name: 'main', uid: 'stack-uid', controller: true };
  const live = { metadata: { ...object('web').metadata, ownerReferences: [owner] } };
  expect(await awaitedPods(pods, live)).toEqual([['web', 'shop/web-1']]);
});

it('the pods of a workload that the operator may not delete are not awaited: they do not end', async () => {
  const owner = { apiVersion: 'v1', kind: 'TrafficStack', name: 'main', uid: 'stack-uid', controller: true };
  const live = { metadata: { ...object('web').metadata, ownerReferences: [owner] } };
  const pods = [made('web-1', 'Deployment web')];
  expect(await awaitedPods(pods, live, { ...EVERYWHERE, namespaces: ['lab'] })).toEqual([]);
});

it('the pods of a workload that is no longer of the stack are not awaited', async () => {
  expect(await awaitedPods([made('web-1', 'Deployment web')], object('web'))).toEqual([]);
});

it.each([
  ['in a namespace of the inventory', 'shop', 'main', true],
  ['in another namespace', 'lab', 'main', false],
  ['of another stack', 'shop', 'other', false],
])('pods that were orphaned are seen %s', async (_, namespace, of, expected) => {
  const labels = { [STACK_LABEL]: of, [COMPONENT_LABEL]: 'web' };
  const orphan = trimPod({ metadata: { namespace, name: 'web-0', labels } });
  const where = {
    caches: {
      kinds: [{ resource: DEPLOYMENTS, overlay: { get: () => undefined } }],
      pods: { lister: { byIndex: (_: string, value: string) => (value === orphan.component ? [orphan] : []) } },
    },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 }, allowed: EVERYWHERE },
    ...{ firstSeen: { of: () => undefined }, client: { get: () => Promise.reject(GONE) } },
  } satisfies { [K in keyof Observed]?: unknown } as unknown as Observed;
  const objects = [{ kind: 'Deployment', namespace: 'shop', name: 'web' }];
  const stack = stackOf([], { inventory: [{ component: 'web', dependsOn: [], objects }] });
  const seen = await observe(stack, { components: [], upgrade: {} }, where, NOW);
  expect([seen.hasOrphanedPods, seen.withPods.size]).toEqual([expected, 0]);
});

it('reads an object by its name whose body the cache has dropped, and no other object', async () => {
  const dropped = new BodyBudget(0).keep(object('prometheus'), identityOf);
  const read: string[] = [];
  const where = {
    caches: {
      kinds: OWN.map(({ resource }) => ({
        resource,
        overlay: { get: () => (resource === SERVICES ? dropped : object('prometheus')) },
      })),
      pods: { lister: { byIndex: () => [] } },
    },
    foreignObjects: {
      read: ({ resource }: { resource: { kind: string } }) => {
        read.push(resource.kind);
        return Promise.resolve({ ...object('prometheus'), spec: 'whole' });
      },
    },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 }, allowed: EVERYWHERE },
    firstSeen: NOTHING_SEEN,
  } satisfies { [K in keyof Observed]?: unknown } as unknown as Observed;
  const { spec } = target('metrics', 'Prometheus', PROMETHEUS);
  const components = [{ spec: { ...spec, mode: 'Managed' as const }, objects: OWN, variables: {}, revision: REVISION }];
  const seen = await observe(stackOf([]), { components, upgrade: {} }, where, NOW);
  expect(read).toEqual(['Service']);
  expect(seen.components[0]?.objects.map(({ live }) => live)).toMatchObject([{ spec: 'whole' }, object('prometheus')]);
});

it.each([
  ['of a component whose inventory has it', 'site', 'site'],
  ['changed by somebody', 'web', undefined],
])('the label of another component on an object is %s', async (_, inInventory, heldBy) => {
  const labels = { [STACK_LABEL]: 'main', [COMPONENT_LABEL]: 'site' };
  const desired = { kind: 'Deployment', metadata: { namespace: 'shop', name: 'web' } };
  const overlay = { get: () => ({ ...desired, metadata: { ...desired.metadata, labels } }) };
  const where = {
    caches: { kinds: [{ resource: DEPLOYMENTS, overlay }], pods: { lister: { byIndex: () => [] } } },
    ...{ measurable: () => 1, clock: { monotonic: () => 0 }, allowed: EVERYWHERE },
    firstSeen: NOTHING_SEEN,
  } satisfies { [K in keyof Observed]?: unknown } as unknown as Observed;
  const objects = [{ kind: 'Deployment', namespace: 'shop', name: 'web' }];
  const stack = stackOf([], { inventory: [{ component: inInventory, dependsOn: [], objects }] });
  const spec = { name: 'web', type: 'Workload', mode: 'Managed' } as const;
  const web: DesiredComponent = {
    spec,
    objects: [{ resource: DEPLOYMENTS, object: desired }],
    variables: {},
    revision: REVISION,
  };
  const deleted = { ...stack, metadata: { ...stack.metadata, deletionTimestamp: new Date(0) } };
  const seen = await observe(deleted, { components: [web], upgrade: {} }, where, NOW);
  expect(seen.components[0]?.objects[0]?.heldBy).toBe(heldBy);
});
