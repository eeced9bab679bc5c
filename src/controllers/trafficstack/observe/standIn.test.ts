import { describe, expect, it } from 'vitest';
import type { ComponentMode } from '../../../api/trafficstack/terms.ts';
import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { StandIn } from '../../contract/builtIn.ts';
import { observeStandIn } from './standIn.ts';
import type { Sought } from './strangers/strangers.ts';

const EXPORTER = {
  resource: DAEMONSETS,
  sought: 'an exporter',
  matches: ({ metadata }: KubeObject) => metadata?.labels?.app === 'exporter',
  problem: ({ metadata }: KubeObject) => metadata?.annotations?.problem,
};
const NONE: ReadonlySet<never> = new Set();
const ASKED = new Error('it is asked');
const PROBES = { problem: () => Promise.reject(ASKED) };
const UNASKED = { probes: PROBES, listeners: { ask: () => Promise.reject(ASKED) } };
const own = { resource: DAEMONSETS, object: { metadata: { namespace: 'op', name: 'node-exporter' } } };
const exporter = (name: string, over: KubeObject['metadata'] = {}): KubeObject => ({
  metadata: { namespace: 'monitoring', name, ...over, labels: { app: 'exporter', ...over.labels } },
});
const mine = exporter('node-exporter', { namespace: 'op' });
const OURS = { labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } };

async function observe(
  mode: ComponentMode,
  all: readonly KubeObject[],
  standIn: typeof EXPORTER | undefined = EXPORTER,
) {
  const lists: Sought[] = [];
  const strangers = {
    read: () => Promise.reject(new Error('it is read')),
    list: (sought: Sought) => {
      lists.push(sought);
      return Promise.resolve(all);
    },
  };
  const seeking = { standIn, mode, own: mode === 'External' ? undefined : own, before: undefined, used: NONE };
  const found = await observeStandIn(seeking, { strangers, ...UNASKED });
  const is = found === undefined ? 'its own' : (found.objects[0]?.live?.metadata?.name ?? 'none');
  return { is, found, lists };
}

describe('a built-in component', () => {
  it.each<[string, ComponentMode, readonly KubeObject[], string]>([
    ['External, there is one', 'External', [exporter('a')], 'a'],
    ['External, there is none', 'External', [{ metadata: { namespace: 'monitoring', name: 'x' } }], 'none'],
    ['Auto, there is one', 'Auto', [exporter('a')], 'a'],
    ['Auto, there is none', 'Auto', [], 'its own'],
    ['Auto, the flags have made its own before', 'Auto', [mine, exporter('a')], 'its own'],
    ['of several the first by name', 'External', [exporter('b'), exporter('a')], 'a'],
    [
      'of several one that is of use',
      'External',
      [exporter('a', { annotations: { problem: 'p' } }), exporter('b')],
      'b',
    ],
    ['what this operator has made is not of others', 'External', [exporter('a', OURS)], 'none'],
    [
      'nor if somebody has taken its labels away',
      'External',
      [exporter('a', { annotations: { 'traffic.example.com/applied-hash': 'x' } })],
      'none',
    ],
    ['one that is being deleted is gone soon', 'External', [exporter('a', { deletionTimestamp: new Date(0) })], 'none'],
  ])('uses what somebody else has made, or not: %s', async (_, mode, all, is) => {
    expect((await observe(mode, all)).is).toBe(is);
  });

  it('has the workload that it uses as its only object, and says what is wrong with it', async () => {
    const { found } = await observe('Auto', [exporter('a', { annotations: { problem: 'is of no use' } })]);
    const object = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace: 'monitoring', name: 'a' } };
    expect(found?.external).toEqual({ sought: 'an exporter', problem: 'is of no use' });
    expect(found?.objects).toMatchObject([
      { resource: DAEMONSETS, object, live: { kind: 'DaemonSet' }, isCurrent: false },
    ]);
  });

  it('is told of changes of what it may use, and with Auto of its own', async () => {
    const concerned = async (mode: ComponentMode) => {
      const [sought] = (await observe(mode, [])).lists;
      return [mine, exporter('a'), { metadata: { namespace: 'op', name: 'node-exporter' } }].map((live) =>
        sought?.concerns(live),
      );
    };
    expect(await concerned('Auto')).toEqual([true, true, true]);
    expect(await concerned('External')).toEqual([true, true, false]);
  });

  it('that nobody else can make asks for nothing', async () => {
    const strangers = { read: () => Promise.reject(ASKED), list: () => Promise.reject(ASKED) };
    const seeking = { standIn: undefined, mode: 'Managed', own, before: undefined, used: NONE } as const;
    expect(await observeStandIn(seeking, { strangers, ...UNASKED })).toBeUndefined();
  });
});

const PROMETHEUS: StandIn = {
  resource: SERVICES,
  sought: 'a Prometheus',
  matches: ({ metadata }) => metadata?.name !== 'other',
  problem: () => undefined,
  probe: {
    selectors: ['a=1', 'b=1'],
    metric: 'up',
    series: 'series',
    urlOf: ({ metadata }) => `http://${metadata?.name}`,
  },
};
const server = (name: string, over: KubeObject['metadata'] = {}): KubeObject => ({
  metadata: { namespace: 'monitoring', name, ...over },
});
const ownDeployment = { resource: DEPLOYMENTS, object: { metadata: { namespace: 'op', name: 'prometheus' } } };

interface ServerScene {
  /** By selector. */
  lists?: Record<string, KubeObject[]>;
  /** What is read by its name. */
  present?: KubeObject[];
  /** Servers that do not answer. */
  down?: string[];
  before?: UsedObject;
}

async function observeServer(mode: ComponentMode, { lists = {}, present = [], down = [], before }: ServerScene) {
  const asked: string[] = [];
  const strangers = {
    list: ({ labelSelector = '' }: Sought) => Promise.resolve(lists[labelSelector] ?? []),
    read: ({ object }: { object: KubeObject }) =>
      Promise.resolve(present.find(({ metadata }) => metadata?.name === object.metadata?.name)),
  };
  const probes = {
    problem: (_: unknown, url: string) => {
      asked.push(url);
      return Promise.resolve(down.some((name) => url === `http://${name}`) ? 'does not answer' : undefined);
    },
  };
  const seeking = { standIn: PROMETHEUS, mode, own: mode === 'External' ? undefined : ownDeployment };
  const found = await observeStandIn({ ...seeking, before, used: NONE }, { ...UNASKED, strangers, probes });
  const is = found === undefined ? 'its own' : (found.objects[0]?.live?.metadata?.name ?? 'none');
  return { is, problem: found?.external?.problem, asked, found };
}

const BEFORE = { kind: 'Service', namespace: 'monitoring', name: 'b' };
const BOTH = { 'a=1': [server('b')], 'b=1': [server('a')] };

describe('a Prometheus of somebody else', () => {
  it.each<[string, ComponentMode, ServerScene, string, string?]>([
    ['External, it answers', 'External', { lists: BOTH }, 'a'],
    ['External, one of several answers', 'External', { lists: BOTH, down: ['a'] }, 'b'],
    ['External, none answers', 'External', { lists: BOTH, down: ['a', 'b'] }, 'a', 'does not answer'],
    ['External, there is none', 'External', { lists: { 'a=1': [server('other')] } }, 'none'],
    ['Auto, it answers', 'Auto', { lists: BOTH }, 'a'],
    ['Auto, it does not answer', 'Auto', { lists: BOTH, down: ['a', 'b'] }, 'its own'],
    ['Auto, there is none', 'Auto', {}, 'its own'],
    ['Auto, the flags have made its own before', 'Auto', { lists: BOTH, present: [server('prometheus')] }, 'its own'],
    ['what was used is used on', 'Auto', { lists: BOTH, present: [server('b')], before: BEFORE }, 'b'],
    [
      'also while it does not answer',
      'Auto',
      { lists: BOTH, present: [server('b')], before: BEFORE, down: ['b'] },
      'b',
      'does not answer',
    ],
    ['until it is gone', 'Auto', { lists: { 'a=1': [server('a')] }, before: BEFORE }, 'a'],
    ['or is of no use', 'Auto', { before: { ...BEFORE, name: 'other' }, present: [server('other')] }, 'its own'],
    ['that of another operator is not used', 'External', { lists: { 'a=1': [server('a', OURS)] } }, 'none'],
  ])('is used, or not: %s', async (_, mode, scene, is, problem) => {
    expect(await observeServer(mode, scene)).toMatchObject({ is, problem });
  });

  it('is one of three that are asked at most', async () => {
    const lists = { 'a=1': ['d', 'c', 'b', 'a'].map((name) => server(name)) };
    const { asked, is } = await observeServer('Auto', { lists, down: ['a'] });
    expect([asked, is]).toEqual([['http://a', 'http://b', 'http://c'], 'b']);
  });

  it('is told with its URL', async () => {
    const { found } = await observeServer('Auto', { lists: BOTH });
    expect(found?.external).toEqual({ sought: 'a Prometheus', asked: { url: 'http://a', series: 'series' } });
  });
});

const LISTENER = { port: 9100, path: '/', contains: 'x', ownPods: 'app=own' };
const NODE_BEFORE = { kind: 'Node', namespace: '', name: 'n1' };
const OWN_POD = exporter('own', { labels: { app: 'own' } });

interface ListenerScene {
  /** Of the three nodes that are asked. */
  answering: readonly string[];
  daemonSets?: readonly KubeObject[];
  ownPods?: readonly KubeObject[];
  before?: UsedObject;
}

async function observeListener(
  mode: ComponentMode,
  { answering, daemonSets = [], ownPods = [], before }: ListenerScene,
) {
  const strangers = {
    read: () => Promise.reject(ASKED),
    list: ({ labelSelector }: { readonly labelSelector?: string | undefined }) =>
      Promise.resolve(labelSelector === LISTENER.ownPods ? ownPods : daemonSets),
  };
  const listeners = { ask: () => Promise.resolve({ port: 9100, asked: 3, answering }) };
  const seeking = { standIn: { ...EXPORTER, listener: LISTENER }, mode, own: mode === 'External' ? undefined : own };
  const found = await observeStandIn({ ...seeking, before, used: NONE }, { strangers, probes: PROBES, listeners });
  if (found === undefined) return 'its own';
  if (found.external?.listening === undefined) return found.objects.length === 0 ? 'none' : 'the DaemonSet';
  return found.external.problem ?? 'what listens';
}

describe('what listens on the port of the nodes', () => {
  const ALL = ['n1', 'n2', 'n3'];
  const GONE = 'no node-exporter answers on the port 9100 of a node any more: 3 were asked';
  it.each<[string, ComponentMode, ListenerScene, string]>([
    ['Auto, on all nodes', 'Auto', { answering: ALL }, 'what listens'],
    ['Auto, on most nodes', 'Auto', { answering: ['n1', 'n2'] }, 'what listens'],
    ['Auto, on one node: its pods of the others are more', 'Auto', { answering: ['n1'] }, 'its own'],
    ['Auto, on none', 'Auto', { answering: [] }, 'its own'],
    ['Auto, its own pods are ending', 'Auto', { answering: ALL, ownPods: [OWN_POD] }, 'its own'],
    ['Auto, it has made its own', 'Auto', { answering: ALL, daemonSets: [mine] }, 'its own'],
    ['a DaemonSet goes first', 'Auto', { answering: ALL, daemonSets: [exporter('a')] }, 'the DaemonSet'],
    ['External, on one node', 'External', { answering: ['n1'] }, 'what listens'],
    ['External, its own pods are ending', 'External', { answering: ALL, ownPods: [OWN_POD] }, 'none'],
    ['External, on none', 'External', { answering: [] }, 'none'],
    ['used until now, on one node left', 'Auto', { answering: ['n2'], before: NODE_BEFORE }, 'what listens'],
    ['used until now, on no node any more', 'Auto', { answering: [], before: NODE_BEFORE }, GONE],
    ['a DaemonSet was used until now', 'Auto', { answering: [], before: BEFORE }, 'its own'],
  ])('is used, or not: %s', async (_, mode, scene, is) => {
    expect(await observeListener(mode, scene)).toBe(is);
  });
});
