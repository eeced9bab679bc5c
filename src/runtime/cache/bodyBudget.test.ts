import type { V1Node } from '@kubernetes/client-node';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { keyOf, type KubeObject } from '../client/resource.ts';
import { createLogger, type Logger } from '../process/logger.ts';
import { castReflector, castWatching, until, type CastOptions, type ReflectorCast } from '../testing/reflectorScene.ts';
import { createScene } from '../testing/scene.ts';
import {
  BodyBudget,
  createBoundedInformer,
  identityOf,
  isWithoutBody,
  reportedFields,
  type Bounds,
} from './bodyBudget.ts';
import { FairShare } from './fairShare.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const aMap = (namespace: string, name: string, length: number): ConfigMap => ({
  kind: 'ConfigMap',
  metadata: { namespace, name, uid: `uid-${name}`, labels: { stack: 'main', other: 'x' } },
  data: { file: 'x'.repeat(length) },
});
const identity = (object: ConfigMap): ConfigMap => identityOf(object, ['stack']);

const nested = (levels: number): object => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as object;

describe('BodyBudget', () => {
  it('drops the body of what is beyond the budget of its namespace, and of nothing else', () => {
    const budget = new BodyBudget(1_000);
    const kept = budget.keep(aMap('a', 'first', 600), identity);
    expect([kept.data?.file?.length, isWithoutBody(kept)]).toEqual([600, false]);
    const beyond = budget.keep(aMap('a', 'second', 600), identity);
    expect(isWithoutBody(beyond)).toBe(true);
    expect(beyond).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'second', labels: { stack: 'main' } } });
    expect(beyond).not.toHaveProperty('data');
    expect(beyond.metadata?.labels).not.toHaveProperty('other');
    expect(isWithoutBody(budget.keep(aMap('b', 'other', 600), identity))).toBe(false);
    expect(isWithoutBody(undefined)).toBe(false);
  });

  it('counts an object once, with its present size, and not when it is gone', () => {
    const budget = new BodyBudget(1_000);
    budget.keep(aMap('a', 'first', 600), identity);
    expect(isWithoutBody(budget.keep(aMap('a', 'first', 700), identity))).toBe(false);
    budget.keep(aMap('a', 'first', 100), identity);
    expect(isWithoutBody(budget.keep(aMap('a', 'second', 400), identity))).toBe(false);
    budget.release(aMap('a', 'second', 1));
    expect(isWithoutBody(budget.keep(aMap('a', 'third', 500), identity))).toBe(false);
  });

  it('knows objects of one name and of another kind apart', () => {
    const budget = new BodyBudget(1_000);
    budget.keep(aMap('a', 'first', 600), identity);
    expect(isWithoutBody(budget.keep({ ...aMap('a', 'first', 600), kind: 'Service' }, identity))).toBe(true);
  });

  it('never has more of a namespace than its budget, whatever comes and goes', () => {
    const step = fc.record({
      ...{ namespace: fc.constantFrom('a', 'b'), name: fc.nat(5), length: fc.nat(900), gone: fc.boolean() },
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new BodyBudget(1_500);
        const cache = new Map<string, ConfigMap>();
        for (const { namespace, name, length, gone } of steps) {
          const object = aMap(namespace, String(name), length);
          if (gone) budget.release(object);
          if (gone) cache.delete(keyOf(object));
          else cache.set(keyOf(object), budget.keep(object, identity));
          const bodies = [...cache.values()].filter(
            (each) => each.metadata?.namespace === namespace && !isWithoutBody(each),
          );
          const bytes = bodies.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
          expect(bytes).toBeLessThanOrEqual(1_500);
          // It drops no body for which there is room.
          const last = cache.get(keyOf(object));
          if (isWithoutBody(last)) expect(bytes + JSON.stringify(object).length).toBeGreaterThan(1_500);
        }
      }),
    );
  });
});

describe('createBoundedInformer', () => {
  const scene = createScene();
  afterAll(() => scene.close());
  const FAT = { a: 'x'.repeat(900) };
  /** Has room for one of two large nodes. */
  const create: NonNullable<CastOptions['create']> = (options) =>
    createBoundedInformer<V1Node>(options, (node) => identityOf(node), { budget: new BodyBudget(1_800) });

  it('counts dropped bodies, and keeps one again after another object is deleted', async () => {
    const { nodes, informer, metrics } = await castWatching(scene, { create });
    const isDropped = (name: string): boolean => isWithoutBody(informer.lister.get(name));
    nodes.set('c', FAT);
    nodes.set('d', FAT);
    await vi.waitFor(() => expect([isDropped('c'), isDropped('d')]).toEqual([false, true]));
    expect(metrics.bodyDropped.mock.calls).toEqual([['nodes']]);
    expect(metrics.bodyMemory.mock.calls).toEqual([['namespaces', expect.any(FairShare)]]);
    nodes.delete('c');
    nodes.set('d', FAT);
    await vi.waitFor(() => expect(isDropped('d')).toBe(false));
  });

  describe('whose objects share memory', () => {
    let share: FairShare;
    const LARGE = { a: 'x'.repeat(3_000) };
    const SMALL = ['s', 't', 'u', 'v', 'w', 'x'];
    /** Each node is a group. One large one fits, with some small ones: a small one takes about 600 bytes, and a large one 3,600. */
    const shared =
      (rest: Bounds<V1Node> = {}): NonNullable<CastOptions['create']> =>
      (options) => {
        share = new FairShare(6_500);
        const budget = new BodyBudget(Infinity, keyOf);
        return createBoundedInformer<V1Node>(options, (node) => identityOf(node), { budget, share, ...rest });
      };
    const withBody = ({ informer }: Pick<ReflectorCast, 'informer'>): string[] =>
      informer.lister.list().flatMap((node) => (isWithoutBody(node) ? [] : (node.metadata?.name ?? '')));

    it('drops a cached body that is in the way of smaller ones, and reports that as an update', async () => {
      const cast = await castWatching(scene, { create: shared() });
      cast.nodes.set('large', LARGE);
      await vi.waitFor(() => expect(withBody(cast)).toEqual(['a', 'b', 'large']));
      for (const name of ['c', 'd', 'e', 'f']) cast.nodes.set(name);
      await vi.waitFor(() => expect(withBody(cast)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']));
      expect(cast.told.filter((told) => told.endsWith('large'))).toEqual(['add large', 'update large']);
      expect(cast.metrics.bodyDropped.mock.calls).toEqual([['nodes']]);
      expect(cast.metrics.bodyMemory.mock.calls).toEqual([['nodes', share]]);
      expect(cast.informer.lister.get('large')?.metadata).toMatchObject({ name: 'large', uid: 'uid-large' });
    });

    it.each([{ refuseWatchList: 400, why: 'pages' }, { why: 'a watch-list' }])(
      'drops bodies of a list that is not complete yet: $why',
      async ({ refuseWatchList }) => {
        const cast = await castReflector(scene, {
          create: shared(),
          prepare(nodes) {
            if (refuseWatchList !== undefined) nodes.behaviour.refuseWatchList = refuseWatchList;
            for (let n = 0; n < 50; n += 1) nodes.set(`large-${n}`, LARGE);
            for (const name of SMALL) nodes.set(name);
          },
        });
        await until(cast, () => expect(cast.informer.synced).toBe(true));
        expect(withBody(cast)).toEqual(SMALL);
        expect(JSON.stringify(cast.informer.lister.list()).length).toBeLessThan(20_000);
      },
    );

    it('keeps an exempt body, and counts none of it', async () => {
      const isExempt = ({ metadata }: V1Node): boolean => metadata?.name === 'large';
      const cast = await castWatching(scene, { create: shared({ isExempt }) });
      const { bytes } = share;
      cast.nodes.set('large', LARGE);
      await vi.waitFor(() => expect(withBody(cast)).toContain('large'));
      expect(share.bytes).toBe(bytes);
    });

    it('gives its memory back when it ends', async () => {
      const cast = await castWatching(scene, { create: shared() });
      expect(share.bytes).toBeGreaterThan(0);
      await cast.stop();
      expect(share.bytes).toBe(0);
    });
  });

  it.each<{ what: string; transformed: (node: V1Node) => V1Node }>([
    {
      what: 'cannot be transformed',
      transformed: () => {
        throw new Error('bad label');
      },
    },
    {
      // The API server accepts 10,000.
      what: 'has 9,000 levels of fields',
      transformed: (node) => Object.assign(node, { spec: nested(9_000) }),
    },
    {
      what: 'has 300 levels of fields',
      transformed: (node) => Object.assign(node, { spec: nested(300) }),
    },
  ])(
    'keeps the identity of an object that $what, names it, and reads it again when it changes',
    async ({ transformed }) => {
      const errors = vi.fn();
      const logger = { ...createLogger('silent'), error: errors, warn: () => undefined, debug: () => undefined };
      const transform = (node: V1Node): V1Node => (node.metadata?.labels?.a === 'bad' ? transformed(node) : node);
      const { nodes, informer, metrics } = await castWatching(scene, {
        create,
        transform,
        logger: logger as unknown as Logger,
      });
      nodes.set('a', { a: 'bad', b: 'x'.repeat(700) });
      await vi.waitFor(() => expect(isWithoutBody(informer.lister.get('a'))).toBe(true));
      expect(informer.lister.get('a')?.metadata?.labels).toEqual({});
      expect(errors.mock.calls).toMatchObject([
        [{ resource: 'nodes', key: 'a' }, expect.stringMatching(/cannot be read/)],
      ]);
      expect(metrics.bodyDropped).toHaveBeenCalledOnce();
      // Its last body is not counted: there is room for another node.
      nodes.set('c', FAT);
      nodes.set('a');
      await vi.waitFor(() =>
        expect(['a', 'c'].map((name) => isWithoutBody(informer.lister.get(name)))).toEqual([false, false]),
      );
    },
  );

  it('does not count objects of a list that was cut off', async () => {
    const gone = { kind: 'Node', metadata: { name: 'gone', resourceVersion: '5', labels: FAT } };
    const cast = await castReflector(scene, {
      create,
      prepare({ behaviour }) {
        behaviour.next = [(reply) => reply.open().end(`${JSON.stringify({ type: 'ADDED', object: gone })}\n`)];
      },
    });
    await until(cast, () => expect([cast.informer.synced, cast.nodes.openWatches]).toEqual([true, 1]));
    cast.nodes.set('kept', FAT);
    await vi.waitFor(() => expect(cast.told).toEqual(['add kept']));
    expect(isWithoutBody(cast.informer.lister.get('kept'))).toBe(false);
  });
});

it('reportedFields keeps the named fields of a status, unless they are too long', () => {
  const status = { verdict: 'Healthy', conditions: ['x'.repeat(20_000)], findings: [1] };
  expect(reportedFields(status, ['verdict', 'conditions'])).toEqual({ verdict: 'Healthy' });
  expect(reportedFields(status, ['conditions'])).toBeUndefined();
  expect(reportedFields(undefined as typeof status | undefined, ['verdict'])).toBeUndefined();
});
