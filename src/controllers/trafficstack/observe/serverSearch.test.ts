import { describe, expect, it } from 'vitest';
import type { ComponentMode } from '../../../api/trafficstack/terms.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { Proof, ExternalProvider } from '../../contract/builtIn.ts';
import type { Found } from './externalCandidates.ts';
import { observeExternalProvider } from './externalProvider.ts';
import type { Sought } from './foreignObjects.ts';

const OURS = { labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } };
const REST = { used: new Set<never>(), named: undefined, patience: '10m', isOver: false, now: 0 };
const UNASKED = { listeners: { ask: () => Promise.reject(new Error('it is asked')) }, measurable: () => 3 };
const PROMETHEUS: ExternalProvider = {
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
  /** The object that is read by its name. */
  present?: KubeObject[];
  /** Servers that do not answer. */
  down?: string[];
  /** Servers that measure some nodes. */
  few?: string[];
  namespaces?: string[];
}

async function observeServer(
  mode: ComponentMode,
  { lists = {}, present = [], down = [], few = [], namespaces = [] }: ServerScene,
) {
  const asked: string[] = [];
  const foreignObjects = {
    list: ({ labelSelector = '' }: Sought) => Promise.resolve(lists[labelSelector] ?? []),
    read: ({ object }: { object: KubeObject }) =>
      Promise.resolve(present.find(({ metadata }) => metadata?.name === object.metadata?.name)),
  };
  const probes = {
    proof: (_: unknown, url: string): Promise<Proof> => {
      asked.push(url);
      if (few.some((name) => url === `http://${name}`)) return Promise.resolve({ is: 'Few', lack: 'measures few' });
      const isDown = down.some((name) => url === `http://${name}`);
      return Promise.resolve(isDown ? { is: 'Unproven', lack: 'does not answer' } : { is: 'Proven' });
    },
  };
  const seeking = {
    externalProvider: { ...PROMETHEUS, namespaces },
    mode,
    own: mode === 'External' ? undefined : ownDeployment,
  };
  const sources = { ...UNASKED, foreignObjects, probes };
  const found = await observeExternalProvider({ ...seeking, ...REST }, sources);
  return { is: nameOf(found), problem: found?.external?.problem, asked, found };
}

const UNPROVEN = 'its own, since Service monitoring/a does not answer';
const BOTH = { 'a=1': [server('b')], 'b=1': [server('a')] };

describe('a Prometheus of another owner', () => {
  it.each<[string, ComponentMode, ServerScene, string, string?]>([
    ['External, it answers', 'External', { lists: BOTH }, 'a'],
    ['External, one of several answers', 'External', { lists: BOTH, down: ['a'] }, 'b'],
    ['External, none answers', 'External', { lists: BOTH, down: ['a', 'b'] }, 'a', 'does not answer'],
    ['External, there is none', 'External', { lists: { 'a=1': [server('other')] } }, 'none'],
    ['Auto, it answers', 'Auto', { lists: BOTH }, 'a'],
    ['Auto, it does not answer', 'Auto', { lists: BOTH, down: ['a', 'b'] }, UNPROVEN],
    ['Auto, one of several answers', 'Auto', { lists: BOTH, down: ['a'] }, 'b'],
    ['Auto, there is none', 'Auto', {}, 'its own'],
    ['Auto, the flags have made its own before', 'Auto', { lists: BOTH, present: [server('prometheus')] }, 'its own'],
    ['External, it measures few nodes', 'External', { lists: { 'a=1': [server('a')] }, few: ['a'] }, 'a'],
    [
      'Auto, it measures few nodes',
      'Auto',
      { lists: { 'a=1': [server('a')] }, few: ['a'] },
      'its own, since Service monitoring/a measures few',
    ],
    ['in a namespace that is named', 'Auto', { lists: BOTH, namespaces: ['monitoring'] }, 'a'],
    [
      'in another namespace it is not asked',
      'Auto',
      { lists: BOTH, namespaces: ['op'], down: [] },
      'its own, since Service monitoring/a is in a namespace that --discovery-namespace (discovery.namespaces in the chart) does not name',
    ],
    ['the Prometheus of another operator is not used', 'External', { lists: { 'a=1': [server('a', OURS)] } }, 'none'],
  ])('is used, or not: %s', async (_, mode, scene, is, problem) => {
    expect(await observeServer(mode, scene)).toMatchObject({ is, problem });
  });

  it('is one of ten that are asked at most, and no namespace takes the turns of another', async () => {
    const crowd = Array.from({ length: 20 }, (_, n) => server(`fake${n}`, { namespace: 'aaa' }));
    const lists = { 'a=1': [...crowd, server('b', { namespace: 'bbb' })] };
    const { asked, is } = await observeServer('Auto', {
      lists,
      down: crowd.map(({ metadata }) => metadata?.name ?? ''),
    });
    expect([asked.length, asked.slice(0, 2), is]).toEqual([10, ['http://fake0', 'http://b'], 'b']);
  });

  it('is reported with its URL', async () => {
    const { found } = await observeServer('Auto', { lists: BOTH });
    expect(found?.external).toEqual({ sought: 'a Prometheus', server: { url: 'http://a', series: 'series' } });
  });
});

function nameOf(found: Found | undefined): string {
  const { external, objects = [], unproven } = found ?? {};
  if (external === undefined) return unproven === undefined ? 'its own' : `its own, since ${unproven}`;
  return objects[0]?.live?.metadata?.name ?? 'none';
}
