import { describe, expect, it } from 'vitest';
import type { ComponentMode } from '../../../api/trafficstack/terms.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import type { Proof, ProofContext } from '../../contract/builtIn.ts';
import type { Found } from './externalCandidates.ts';
import { observeExternalProvider } from './externalProvider.ts';
import type { Sought } from './foreignObjects.ts';

const READY: Proof = { is: 'Proven' };
const STARTING: Proof = { is: 'Starting', lack: 'is starting' };
const EMPTY: Proof = { is: 'Unproven', lack: 'has no pods' };
const FEW: Proof = { is: 'Few', lack: 'measures few' };
const PROOFS: Readonly<Record<string, Proof>> = { starting: STARTING, empty: EMPTY, few: FEW };
const EXPORTER = {
  resource: DAEMONSETS,
  sought: 'an exporter',
  matches: ({ metadata }: KubeObject) => metadata?.labels?.app === 'exporter',
  problem: ({ metadata }: KubeObject) => metadata?.annotations?.problem,
  proof: ({ metadata }: KubeObject, { nodes }: ProofContext) => {
    expect(nodes).toBe(3);
    return PROOFS[metadata?.labels?.proof ?? ''] ?? READY;
  },
};
const measurable = () => 3;
const PATIENCE = { patience: '10m', isOver: false, now: 0 };
/** Looks like an exporter, and is none. */
const fake = (name: string, proof: 'starting' | 'empty' | 'few' = 'empty', over: KubeObject['metadata'] = {}) =>
  exporter(name, { ...over, labels: { proof } });
const NONE: ReadonlySet<never> = new Set();
const ASKED = new Error('it is asked');
const PROBES = { proof: () => Promise.reject(ASKED) };
const UNASKED = { probes: PROBES, listeners: { ask: () => Promise.reject(ASKED) }, measurable: () => 3 };
const own = { resource: DAEMONSETS, object: { metadata: { namespace: 'op', name: 'node-exporter' } } };
const exporter = (name: string, over: KubeObject['metadata'] = {}): KubeObject => ({
  metadata: { namespace: 'monitoring', name, ...over, labels: { app: 'exporter', ...over.labels } },
});
const mine = exporter('node-exporter', { namespace: 'op' });
const OURS = { labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } };

interface Past {
  readonly isOver?: boolean;
  readonly namespaces?: readonly string[];
}

function nameOf(found: Found | undefined): string {
  const { external, objects = [], unproven } = found ?? {};
  if (external === undefined) return unproven === undefined ? 'its own' : `its own, since ${unproven}`;
  const name = objects[0]?.live?.metadata?.name ?? 'none';
  return external.awaited === undefined ? name : `awaits ${name}`;
}

async function observe(
  mode: ComponentMode,
  all: readonly KubeObject[],
  { isOver = false, namespaces = [] }: Past = {},
) {
  const lists: Sought[] = [];
  const foreignObjects = {
    read: () => Promise.reject(new Error('it is read')),
    list: (sought: Sought) => {
      lists.push(sought);
      return Promise.resolve(all);
    },
  };
  const externalProvider = { ...EXPORTER, namespaces };
  const seeking = { externalProvider, mode, own: mode === 'External' ? undefined : own, named: undefined, used: NONE };
  const found = await observeExternalProvider({ ...seeking, ...PATIENCE, isOver }, { foreignObjects, ...UNASKED });
  return { is: nameOf(found), found, lists };
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
  ])('uses objects of another owner, or not: %s', async (_, mode, all, is) => {
    expect((await observe(mode, all)).is).toBe(is);
  });

  const NO_PODS = 'its own, since DaemonSet monitoring/a has no pods';
  it.each<[string, ComponentMode, readonly KubeObject[], Past, string]>([
    ['one without pods', 'Auto', [fake('a')], {}, NO_PODS],
    ['one without pods, before one that measures', 'Auto', [fake('a'), exporter('b')], {}, 'b'],
    ['one that starts', 'Auto', [fake('a'), fake('b', 'starting')], {}, 'awaits b'],
    ['one that has started for too long', 'Auto', [fake('a'), fake('b', 'starting')], { isOver: true }, NO_PODS],
    [
      'one that measures few nodes',
      'Auto',
      [fake('a', 'few')],
      {},
      'its own, since DaemonSet monitoring/a measures few',
    ],
    ['External, one without pods before one that measures', 'External', [fake('a'), exporter('b')], {}, 'b'],
    ['External, one without pods', 'External', [fake('a')], {}, 'a'],
    ['in a namespace that is named', 'Auto', [exporter('a')], { namespaces: ['monitoring'] }, 'a'],
    [
      'in another namespace',
      'Auto',
      [exporter('a')],
      { namespaces: ['op'] },
      'its own, since DaemonSet monitoring/a is in a namespace that --discovery-namespace (discovery.namespaces in the chart) does not name',
    ],
    ['External, in another namespace', 'External', [exporter('a')], { namespaces: ['op'] }, 'none'],
  ])('uses what measures the nodes: %s', async (_, mode, all, past, is) => {
    expect((await observe(mode, all, past)).is).toBe(is);
  });

  it('says what it waits for, and how long', async () => {
    const { found } = await observe('Auto', [fake('b', 'starting')]);
    expect(found?.external).toEqual({
      sought: 'an exporter',
      awaited:
        'DaemonSet monitoring/b is starting: the operator waits 10m for it, then deploys its own; to have that at once, set the mode Managed',
    });
  });

  it('has the workload that it uses as its only object, and says what is wrong with it', async () => {
    const { found } = await observe('Auto', [exporter('a', { annotations: { problem: 'is of no use' } })]);
    const object = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace: 'monitoring', name: 'a' } };
    expect(found?.external).toEqual({ sought: 'an exporter', problem: 'is of no use' });
    expect(found?.objects).toMatchObject([
      { resource: DAEMONSETS, object, live: { kind: 'DaemonSet' }, isCurrent: false },
    ]);
  });

  it('gets changes of objects that it may use, and with Auto of its own', async () => {
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
    const foreignObjects = { read: () => Promise.reject(ASKED), list: () => Promise.reject(ASKED) };
    const seeking = {
      externalProvider: undefined,
      mode: 'Managed',
      own,
      named: undefined,
      used: NONE,
      ...PATIENCE,
    } as const;
    expect(await observeExternalProvider(seeking, { foreignObjects, ...UNASKED })).toBeUndefined();
  });
});

const LISTENER = { port: 9100, path: '/', contains: 'x', ownPods: 'app=own' };
const OWN_POD = exporter('own', { labels: { app: 'own' } });

interface ListenerScene {
  /** The nodes that answer, of the three that are asked. */
  answering: readonly string[];
  daemonSets?: readonly KubeObject[];
  ownPods?: readonly KubeObject[];
  isOver?: boolean;
  namespaces?: readonly string[];
}

async function observeListener(
  mode: ComponentMode,
  { answering, daemonSets = [], ownPods = [], isOver = false, namespaces = [] }: ListenerScene,
) {
  const foreignObjects = {
    read: () => Promise.reject(ASKED),
    list: ({ labelSelector }: { readonly labelSelector?: string | undefined }) =>
      Promise.resolve(labelSelector === LISTENER.ownPods ? ownPods : daemonSets),
  };
  const listeners = { ask: () => Promise.resolve({ port: 9100, queried: 3, answering }) };
  const seeking = {
    externalProvider: { ...EXPORTER, namespaces, listener: LISTENER },
    mode,
    own: mode === 'External' ? undefined : own,
  };
  const sources = { foreignObjects, probes: PROBES, listeners, measurable };
  const found = await observeExternalProvider(
    { ...seeking, named: undefined, used: NONE, ...PATIENCE, isOver },
    sources,
  );
  if (found?.external === undefined) return 'its own';
  if (found.external.awaited !== undefined) return nameOf(found);
  if (found.external.listening === undefined) return found.objects.length === 0 ? 'none' : 'the DaemonSet';
  return 'what listens';
}

describe('what listens on the port of the nodes', () => {
  const ALL = ['n1', 'n2', 'n3'];
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
    ['with a DaemonSet that starts', 'Auto', { answering: ALL, daemonSets: [fake('a', 'starting')] }, 'what listens'],
    ['before a DaemonSet that starts', 'Auto', { answering: [], daemonSets: [fake('a', 'starting')] }, 'awaits a'],
    ['with a DaemonSet without pods', 'Auto', { answering: ALL, daemonSets: [fake('a')] }, 'what listens'],
    [
      'External, with a DaemonSet without pods',
      'External',
      { answering: ALL, daemonSets: [fake('a')] },
      'what listens',
    ],
    [
      'External, on few nodes with a DaemonSet',
      'External',
      { answering: ['n1'], daemonSets: [fake('a')] },
      'the DaemonSet',
    ],
    [
      'pods of a DaemonSet elsewhere',
      'Auto',
      { answering: ALL, daemonSets: [exporter('a')], namespaces: ['op'] },
      'its own',
    ],
    [
      'no object tells its namespace',
      'Auto',
      { answering: ALL, daemonSets: [fake('a')], namespaces: ['op'] },
      'its own',
    ],
  ])('is used, or not: %s', async (_, mode, scene, is) => {
    expect(await observeListener(mode, scene)).toBe(is);
  });
});
