import type { V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import type { WorkloadComponent } from '../../../src/api/trafficstack/trafficStack.ts';
import type { WorkloadKind } from '../../../src/api/trafficstack/terms.ts';
import type { Fault } from './kubelet.ts';
import { component } from './scene.ts';

/** Where the faulty component is in its graph. */
export const PLACES = ['root', 'middle', 'diamond', 'sibling', 'two'] as const;
export type Place = (typeof PLACES)[number];

/** A fault of one component. */
export interface FaultKind {
  readonly name: string;
  /** The kinds of the faulty workloads, each in a stack of its own. */
  readonly kinds: readonly WorkloadKind[];
  readonly places?: readonly Place[];
  /** The kubelet's report. */
  readonly fault?: (component: string) => Fault;
  readonly over?: Parameters<typeof component>[1];
  /** Additional fields of the pods. */
  readonly pod?: Partial<NonNullable<V1PodTemplateSpec['spec']>>;
  /** The observed reason and value. */
  readonly observed: (component: string) => readonly string[];
  /** The component is ready, then its workload is deleted by somebody, and this is done before. */
  readonly isDeleted?: true;
}

export const FULL = 'full';
export const CROWDED = 'crowded';
/** A node that is not Ready. */
export const DARK = 'dark';
const claims = (storageClassName: string) => [
  {
    metadata: { name: 'data' },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];
const pulls = (name: string): Fault => {
  return { reason: 'ImagePullBackOff', message: `Back-off pulling image "${name}:1"` };
};
const QUOTA = 'exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0';

/** Every kind of fault, as a kubelet, the scheduler, or a controller of Kubernetes reports it. */
export const FAULT_KINDS: readonly FaultKind[] = [
  {
    ...{ name: 'a missing image', kinds: ['Deployment'], fault: pulls },
    observed: (name) => ['ImagePullBackOff', `"${name}:1"`],
  },
  {
    ...{ name: 'a crash loop', kinds: ['StatefulSet'] },
    fault: () => ({ reason: 'CrashLoopBackOff', message: 'back-off 40s restarting', exitCode: 3, restarts: 4 }),
    observed: () => ['CrashLoopBackOff', 'exit code 3, 4 restarts'],
  },
  {
    ...{ name: 'no room', kinds: ['Deployment'] },
    pod: { nodeName: undefined!, containers: [{ name: 'x', image: 'x:1', resources: { requests: { cpu: '999' } } }] },
    observed: () => ['0/2 nodes are available', 'Insufficient cpu'],
  },
  {
    ...{ name: 'an unbound claim', kinds: ['StatefulSet'] },
    over: { workload: { volumeClaimTemplates: claims('nothing') } },
    pod: { nodeName: undefined! },
    observed: (name) => ['unbound immediate PersistentVolumeClaims', `its claims: data-${name}-0`],
  },
  {
    ...{ name: 'a claim that nobody provisions', kinds: ['StatefulSet'], places: ['root'] },
    over: { workload: { volumeClaimTemplates: claims('late') } },
    pod: { nodeName: undefined! },
    observed: (name) => [`its claims: data-${name}-0`],
  },
  {
    ...{ name: 'a failing probe', kinds: ['DaemonSet'] },
    fault: () => ({ event: { reason: 'Unhealthy', message: 'Readiness probe failed: statuscode: 503' } }),
    observed: () => ['running, and not ready; Unhealthy: Readiness probe failed: statuscode: 503'],
  },
  {
    ...{ name: 'a missing ConfigMap', kinds: ['Deployment'], places: ['root', 'middle', 'diamond'] },
    fault: () => ({ reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' }),
    observed: () => ['CreateContainerConfigError', 'configmap "settings" not found'],
  },
  {
    ...{ name: 'a volume of a missing ConfigMap', kinds: ['StatefulSet'], places: ['root', 'two', 'sibling'] },
    fault: () => ({
      ...{ reason: 'ContainerCreating', message: '' },
      event: { reason: 'FailedMount', message: 'MountVolume.SetUp failed for volume "etc": configmap "x" not found' },
    }),
    observed: () => ['FailedMount', 'configmap "x" not found'],
  },
  {
    ...{ name: 'a node that is not Ready', kinds: ['DaemonSet'], pod: { nodeName: DARK } },
    observed: () => [`is on node ${DARK}, which is NotReady since 20`],
  },
  {
    ...{ name: 'a quota', kinds: ['Deployment', 'StatefulSet'], over: { workload: { namespace: FULL } } },
    observed: () => [QUOTA],
  },
  {
    ...{ name: 'a missing ServiceAccount', kinds: ['DaemonSet'], pod: { serviceAccountName: 'absent' } },
    observed: () => ['is forbidden: error looking up service account default/absent', '"absent" not found'],
  },
  {
    ...{ name: 'a right that the operator does not have', kinds: ['Deployment'], places: ['root', 'middle'] },
    over: { workload: { services: [{ ports: [{ port: 80 }] }] } },
    observed: (name) => [`Service default/${name}`, 'cannot patch resource "services"'],
  },
  {
    ...{
      name: 'a deletion, and no image for the new pods',
      kinds: ['StatefulSet'],
      places: ['root'],
      isDeleted: true,
      fault: pulls,
    },
    observed: (name) => ['ImagePullBackOff', `"${name}:1"`],
  },
  {
    ...{ name: 'a deletion, and a quota for the new object', kinds: ['DaemonSet'], places: ['root'], isDeleted: true },
    over: { workload: { namespace: CROWDED } },
    observed: () => ['exceeded quota: none', 'count/'],
  },
];

/** One fault in one stack. */
export interface FaultRow {
  /** Also the name of the stack, and the prefix of its components. */
  readonly id: string;
  readonly title: string;
  readonly kind: FaultKind;
  readonly place: Place;
  /** The faulty component. */
  readonly bad: WorkloadComponent;
  readonly components: readonly WorkloadComponent[];
  /** Other components that are also faulty. */
  readonly others: readonly string[];
  /** Components that wait for the faulty one. */
  readonly waiting: readonly string[];
}

/** Each kind of fault, with the places in turn: where a fault may be is a table in src/controllers/trafficstack/decide/waiting.test.ts. */
export function faultRows(): FaultRow[] {
  return FAULT_KINDS.flatMap((kind, n) => {
    const places = kind.places ?? PLACES;
    return kind.kinds.map((workload, m) =>
      rowOf(`f${n}${'abc'[m]}`, kind, places[(n + m) % places.length] ?? 'root', workload),
    );
  });
}

function rowOf(id: string, kind: FaultKind, place: Place, workload: WorkloadKind): FaultRow {
  const name = (short: string): string => `${id}-${short}`;
  const bad = badComponent(name('bad'), kind, place, workload);
  const plain = (short: string, ...dependsOn: string[]) => component(name(short), { dependsOn: dependsOn.map(name) });
  const graph: Record<Place, { components: WorkloadComponent[]; waiting: string[]; others?: string[] }> = {
    root: { components: [plain('d', 'c'), plain('c', 'b'), plain('b', 'bad'), bad], waiting: ['b', 'c', 'd'] },
    middle: {
      components: [plain('d', 'c'), plain('c', 'bad'), { ...bad, dependsOn: [name('a')] }, plain('a')],
      waiting: ['c', 'd'],
    },
    diamond: {
      components: [plain('d', 'b', 'bad'), plain('b', 'a'), { ...bad, dependsOn: [name('a')] }, plain('a')],
      waiting: ['d'],
    },
    sibling: {
      components: [plain('other'), plain('x', 'other'), plain('c', 'bad'), bad],
      ...{ waiting: ['c'], others: ['other'] },
    },
    two: {
      components: [plain('other'), bad, plain('c', 'other', 'bad'), plain('d', 'c')],
      ...{ waiting: ['c', 'd'], others: ['other'] },
    },
  };
  const { components, waiting, others = [] } = graph[place];
  const title = `${kind.name} of a ${workload}, ${place}`;
  return { id, title, kind, place, bad, components, waiting: waiting.map(name), others: others.map(name) };
}

function badComponent(
  name: string,
  { over = {}, pod = {} }: FaultKind,
  place: Place,
  kind: WorkloadKind,
): WorkloadComponent {
  // Of two that have a fault, it is the one that fails: the other has more time.
  const made = component(name, { ...over, kind, ...(place === 'two' && { deadline: '5s' }) });
  const { podTemplate } = made.workload;
  const spec = JSON.parse(JSON.stringify({ ...podTemplate?.spec, ...pod })) as V1PodSpec;
  return { ...made, workload: { ...made.workload, podTemplate: { ...podTemplate, spec } } };
}
