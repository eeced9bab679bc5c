import { describe, expect, it } from 'vitest';
import type { UsedObject } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, SERVICES } from '../../../runtime/client/resources.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import type { Proof, ExternalProvider } from '../../contract/builtIn.ts';
import { observeExternalProvider } from './externalProvider.ts';

const OTHERS = new Error('another object is read');
const LISTENER = { port: 9100, path: '/', contains: 'x', ownPods: 'app=own' };
const matches = ({ metadata }: KubeObject) => metadata?.labels?.app === 'exporter';
const problem = ({ metadata }: KubeObject) => metadata?.annotations?.problem;
const EXPORTER: ExternalProvider = {
  resource: DAEMONSETS,
  sought: 'an exporter',
  matches,
  problem,
  listener: LISTENER,
};
const PROMETHEUS: ExternalProvider = {
  ...{ resource: SERVICES, sought: 'a Prometheus', matches, problem: () => undefined },
  probe: { selectors: ['a=1'], metric: 'up', series: 'series', urlOf: ({ metadata }) => `http://${metadata?.name}` },
};
const ref = { namespace: 'monitoring', name: 'a' };
const object = (over: KubeObject['metadata'] = {}): KubeObject => ({
  metadata: { ...ref, ...over, labels: { app: 'exporter', ...over.labels } },
});
const OURS = object({ labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } });
const DAEMON_SET = { kind: 'DaemonSet', ...ref, fromSpec: true } as const;
const SERVICE = { kind: 'Service', ...ref, url: 'http://old' };
const NODE = { kind: 'Node', namespace: '', name: 'n1' };
const URL = { kind: 'URL', namespace: '', name: 'prom', url: 'http://prom', fromSpec: true } as const;

interface Scene {
  readonly live?: KubeObject;
  readonly proof?: Proof;
  readonly answering?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly mode?: 'Auto' | 'External';
}

/** Returns the used object and its problem. Only the named object may be read. */
async function observe(named: UsedObject, scene: Scene = {}) {
  const { live, proof = { is: 'Proven' }, answering = [], namespaces = [], mode = 'External' } = scene;
  const externalProvider = {
    ...(named.kind === 'DaemonSet' || named.kind === 'Node' ? EXPORTER : PROMETHEUS),
    namespaces,
  };
  const asked: string[] = [];
  const sources = {
    foreignObjects: {
      read(member: Member) {
        asked.push(idOf(member));
        return Promise.resolve(live);
      },
      list: () => Promise.reject(OTHERS),
    },
    probes: {
      proof(_: unknown, url: string) {
        asked.push(url);
        return Promise.resolve(proof);
      },
    },
    listeners: { ask: () => Promise.resolve({ port: 9100, queried: 3, answering }) },
    measurable: () => 3,
  };
  const own = { resource: DAEMONSETS, object: { metadata: { namespace: 'op', name: 'node-exporter' } } };
  const rest = { patience: '10m', isOver: true, now: 0, used: new Set<never>() };
  const found = await observeExternalProvider({ externalProvider, mode, own, named, ...rest }, sources);
  const { external, objects = [] } = found ?? {};
  return { asked, external, names: objects.map(({ live: seen }) => seen?.metadata?.name) };
}

describe('an object that the spec or the status names', () => {
  it.each<[string, UsedObject, Scene, unknown[]]>([
    ['a DaemonSet, with any proof', DAEMON_SET, { live: object() }, ['a', undefined]],
    ['a Service', SERVICE, { live: object() }, ['a', undefined]],
    [
      'a Service with series of few nodes',
      SERVICE,
      { live: object(), proof: { is: 'Few', lack: 'few' } },
      ['a', undefined],
    ],
    [
      'a Service that does not answer',
      SERVICE,
      { live: object(), proof: { is: 'Unproven', lack: 'is down' } },
      ['a', 'is down'],
    ],
    ['with the mode Auto, after the deadline', DAEMON_SET, { live: object(), mode: 'Auto' }, ['a', undefined]],
    ['what does not exist, after the deadline', { ...DAEMON_SET }, { mode: 'Auto' }, [undefined, undefined]],
    ['what is of no use', DAEMON_SET, { live: object({ annotations: { problem: 'p' } }) }, ['a', 'p']],
    ['what is not sought', DAEMON_SET, { live: object({ labels: { app: 'x' } }) }, ['a', 'is not an exporter']],
    ['what is of this operator', DAEMON_SET, { live: OURS }, ['a', 'is of this operator: set the mode Managed']],
  ])('is read alone, and used or waited for: %s', async (_, named, scene, wanted) => {
    const { names, external, asked } = await observe(named, scene);
    expect([...names, external?.problem]).toEqual(wanted);
    expect(external?.awaited).toBeUndefined();
    expect(asked[0]).toBe(`${named.kind} monitoring/a`);
  });

  it('that the spec names is not read in a namespace that the flags exclude', async () => {
    const { asked, external, names } = await observe(DAEMON_SET, { live: object(), namespaces: ['op'] });
    const why = 'is in a namespace that --discovery-namespace (discovery.namespaces in the chart) does not name';
    expect([asked, names, external?.problem, external?.named]).toEqual([[], [undefined], why, undefined]);
  });

  it.each([
    ['a Service in another namespace', SERVICE],
    ['nodes, whose programs have no namespace', NODE],
  ])('that a search has found is named no longer when the flags exclude its namespace: %s', async (_, named) => {
    await expect(observe(named, { namespaces: ['op'], mode: 'Auto' })).rejects.toBe(OTHERS);
  });

  it.each<[readonly string[], string | undefined]>([
    [['n2'], undefined],
    [[], 'no node-exporter answers on the port 9100 of a node: 3 were asked'],
  ])('is a program on the nodes, of which %j answer', async (answering, why) => {
    const { external } = await observe(NODE, { answering });
    expect([external?.listening?.answering, external?.problem]).toEqual([answering, why]);
  });

  it('is a URL, which is asked as it is', async () => {
    const { asked, external } = await observe(URL);
    expect([asked, external]).toEqual([
      ['http://prom'],
      { sought: 'a Prometheus', named: URL, problem: undefined, server: { url: 'http://prom', series: 'series' } },
    ]);
  });
});
