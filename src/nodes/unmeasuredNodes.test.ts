import type { V1Node } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ListOptions } from '../runtime/client/client.ts';
import { FakeClock } from '../runtime/process/clock.ts';
import { FakeApi } from '../runtime/testing/fakeApi/fakeApi.ts';
import { trimNode } from './cachedNode.ts';
import type { Placement } from './nodeAffinity.ts';
import { UnmeasuredNodes, type Measured } from './unmeasuredNodes.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const LINUX = { 'kubernetes.io/os': 'linux' };

interface Described {
  labels?: Record<string, string>;
  taint?: string;
  notReadyForMs?: number;
  ageMs?: number;
}

function node(name: string, { labels = LINUX, taint, notReadyForMs, ageMs = 600_000 }: Described = {}): V1Node {
  const lastTransitionTime = new Date(NOW - (notReadyForMs ?? 0));
  const status = notReadyForMs === undefined ? 'True' : 'Unknown';
  return {
    metadata: { name, labels, creationTimestamp: new Date(NOW - ageMs) },
    spec: { taints: taint === undefined ? [] : [{ key: taint, effect: 'NoSchedule' }] },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] },
  };
}

const passOver = (measured: readonly string[], ok = true): Measured => ({
  ok,
  nodes: new Map(measured.map((name) => [name, { percent: 1 }])),
});

describe('UnmeasuredNodes', () => {
  let clock: FakeClock;
  let api: FakeApi;
  let unmeasured: UnmeasuredNodes;
  let exporter: Placement | undefined;

  beforeEach(() => {
    clock = new FakeClock(NOW);
    api = new FakeApi();
    const trim = trimNode('mine');
    const list = () => [...api.objects.values()].map(trim);
    exporter = undefined;
    unmeasured = new UnmeasuredNodes({ client: api, clock, nodes: { list }, exporter: () => exporter });
  });

  const putNodes = (...nodes: V1Node[]): void => {
    for (const each of nodes) api.objects.set(`Node ${each.metadata?.name ?? ''}`, each);
  };
  /** The names of the nodes that were read from the API server. */
  const asked = (): string[] =>
    api.calls.map(({ verb, what, options }) => {
      expect([verb, what]).toEqual(['list', 'Node']);
      return (options as ListOptions).fieldSelector?.replace('metadata.name=', '') ?? '';
    });

  async function found(measured: readonly string[] = []): Promise<Record<string, string>> {
    await unmeasured.lookedAt(passOver(measured));
    return Object.fromEntries([...unmeasured.notMeasurable].map(([name, { reason }]) => [name, reason]));
  }

  it('does not read nodes that have a rate and lack only a capacity: a TrafficWatch may state it', async () => {
    putNodes(node('rate'), node('nothing'));
    await unmeasured.lookedAt({
      ok: true,
      nodes: new Map([
        ['rate', { bytesPerSecond: 0 }],
        ['nothing', {}],
      ]),
    });
    expect(asked()).toEqual(['nothing']);
  });

  it.each<{ why: string; one: V1Node; reason: string | undefined; looks: number }>([
    { why: 'a Ready Linux node can be measured', one: node('a'), reason: undefined, looks: 1 },
    {
      why: 'a node without the label kubernetes.io/os can be measured',
      one: node('a', { labels: {} }),
      reason: undefined,
      looks: 1,
    },
    {
      why: 'a Windows node is recognized by its label, without a request',
      one: node('a', { labels: { 'kubernetes.io/os': 'windows' } }),
      reason: 'NotMeasurable',
      looks: 0,
    },
    {
      why: 'a virtual kubelet is recognized by its label',
      one: node('a', { labels: { ...LINUX, type: 'virtual-kubelet' } }),
      reason: 'NotMeasurable',
      looks: 0,
    },
    {
      why: 'a virtual kubelet is recognized by its taint',
      one: node('a', { taint: 'virtual-kubelet.io/provider' }),
      reason: 'NotMeasurable',
      looks: 1,
    },
    {
      why: 'a node that is powered off is not Ready',
      one: node('a', { notReadyForMs: 60_000 }),
      reason: 'NodeNotReady',
      looks: 1,
    },
    {
      why: 'a restarting kubelet is not Ready only for a moment',
      one: node('a', { notReadyForMs: 5_000 }),
      reason: undefined,
      looks: 1,
    },
    {
      why: 'a new node is not read yet',
      one: node('a', { ageMs: 5_000, notReadyForMs: 600_000 }),
      reason: undefined,
      looks: 0,
    },
  ])('$why', async ({ one, reason, looks }) => {
    putNodes(one);
    expect(await found()).toEqual(reason === undefined ? {} : { a: reason });
    expect(asked()).toHaveLength(looks);
  });

  it('names the nodes without series where no exporter runs, and reads none of them', async () => {
    putNodes(node('web', { labels: { ...LINUX, pool: 'web' } }), node('other'), node('measured'));
    expect(await found(['measured'])).toEqual({});
    await clock.advance(20_000);
    const before = asked().length;
    exporter = { nodeSelector: { pool: 'web' } };
    expect(await found(['measured'])).toEqual({ other: 'NotMeasurable' });
    expect(unmeasured.notMeasurable.get('other')?.message).toContain('nodeExporter.nodeSelector');
    expect(asked().slice(before)).toEqual(['web']);
    exporter = undefined;
    expect(await found(['measured'])).toEqual({});
  });

  it('reads only nodes without figures, and not after each pass', async () => {
    putNodes(node('a', { notReadyForMs: 60_000 }), node('b'));
    expect(await found(['b'])).toEqual({ a: 'NodeNotReady' });
    const before = unmeasured.notMeasurable;
    await found(['b']);
    expect(asked()).toEqual(['a']);
    expect(unmeasured.notMeasurable).toBe(before);
    await clock.advance(20_000);
    await found(['b']);
    expect(asked()).toEqual(['a', 'a']);
    expect(await found(['a', 'b'])).toEqual({});
  });

  it('keeps the last result if a pass fails or the API server does not answer', async () => {
    putNodes(node('a', { notReadyForMs: 60_000 }));
    await found();
    await unmeasured.lookedAt(passOver([], false));
    expect([...unmeasured.notMeasurable.keys()]).toEqual(['a']);
    api.intercept = () => Promise.reject(new Error('no answer'));
    await clock.advance(20_000);
    expect(await found()).toEqual({ a: 'NodeNotReady' });
  });

  it('resolves after at most two seconds', async () => {
    putNodes(node('a', { notReadyForMs: 60_000 }));
    const late = Promise.withResolvers<undefined>();
    api.intercept = () => late.promise;
    const looked = found();
    await clock.advance(2_000);
    expect(await looked).toEqual({});
    late.resolve(undefined);
    await Promise.resolve();
    expect(await found()).toEqual({ a: 'NodeNotReady' });
  });

  it('reads at most a hundred nodes at a time, those first that were read longest ago', async () => {
    putNodes(...Array.from({ length: 150 }, (_, n) => node(`n${n}`)));
    await found();
    expect(new Set(asked()).size).toBe(100);
    await found();
    expect([asked().length, new Set(asked()).size]).toEqual([150, 150]);
  });
});
