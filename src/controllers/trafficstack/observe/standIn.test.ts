import { describe, expect, it } from 'vitest';
import type { ComponentMode } from '../../../api/trafficstack/terms.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import { observeStandIn } from './standIn.ts';

const EXPORTER = {
  resource: DAEMONSETS,
  sought: 'an exporter',
  matches: ({ metadata }: KubeObject) => metadata?.labels?.app === 'exporter',
  problem: ({ metadata }: KubeObject) => metadata?.annotations?.problem,
};
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
  const lists: string[] = [];
  const strangers = {
    list: ({ plural }: { plural: string }) => {
      lists.push(plural);
      return Promise.resolve(all);
    },
  };
  const found = await observeStandIn({ standIn, mode, own: mode === 'External' ? undefined : own }, strangers);
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

  it('that nobody else can make asks for nothing', async () => {
    const strangers = { list: () => Promise.reject(new Error('it is asked')) };
    expect(await observeStandIn({ standIn: undefined, mode: 'Managed', own }, strangers)).toBeUndefined();
  });
});
