import type { V1Deployment } from '@kubernetes/client-node';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { APPLIED_HASH_ANNOTATION, appliedHash, Applier, REFUSAL_MS } from './apply.ts';
import type { Client } from '../client/client.ts';
import { FakeClock } from '../process/clock.ts';
import { differences, isSubset, removalPatch } from './difference.ts';
import { ApiError } from '../client/errors.ts';
import { DEPLOYMENTS } from '../client/resources.ts';

describe('appliedHash', () => {
  const object = { kind: 'A', metadata: { name: 'a', labels: { x: '1', y: '2' } }, spec: { list: [1, 2] } };

  it.each([
    ['the order of keys', { spec: { list: [1, 2] }, metadata: { labels: { y: '2', x: '1' }, name: 'a' }, kind: 'A' }],
    ['an undefined field', { ...object, status: undefined }],
    ['the annotation that contains it', withHash(object, 'x')],
    ['a second computation', structuredClone(object)],
  ])('does not depend on %s', (_why, other) => expect(appliedHash(other)).toBe(appliedHash(object)));

  it.each([
    ['a removed field', { ...object, spec: {} }],
    ['the order of a list', { ...object, spec: { list: [2, 1] } }],
    ['another annotation', { ...object, metadata: { ...object.metadata, annotations: { a: 'b' } } }],
  ])('changes with %s', (_why, other) => expect(appliedHash(other)).not.toBe(appliedHash(object)));
});

describe('isSubset', () => {
  const container = (more: object) => ({ containers: [{ name: 'main', image: 'a', ...more }] });
  const limits = (cpu: unknown) => ({ resources: { limits: { cpu } } });
  const port = (more: object) => ({ ports: [{ containerPort: 80, ...more }] });

  it.each([
    ['a default of the server is ignored', { a: 1 }, { a: 1, b: 2 }],
    ['undefined equals absent', { a: undefined }, {}],
    ['null equals absent', { a: null }, {}],
    ['an empty list equals absent', { a: [] }, {}],
    ['apiVersion and kind are not compared', { apiVersion: 'v1', kind: 'A', a: 1 }, { a: 1 }],
    ['defaults within a named item', container({}), container({ terminationMessagePath: '/dev/log' })],
    [
      'a sidecar that a webhook put in',
      container({}),
      { containers: [{ name: 'proxy' }, ...container({}).containers] },
    ],
    ['the order of named items', { env: [{ name: 'a' }, { name: 'b' }] }, { env: [{ name: 'b' }, { name: 'a' }] }],
    ['the default protocol of a port', port({}), port({ protocol: 'TCP' })],
    ['a quantity in another form', limits('1000m'), limits('1')],
    ['a quantity as a number', limits(1), limits('1')],
    [
      'a quantity of a named resource',
      { requests: { 'example.com/gpu': '1k' } },
      { requests: { 'example.com/gpu': '1000' } },
    ],
    ['a quantity of a volume', { emptyDir: { sizeLimit: '1000m' } }, { emptyDir: { sizeLimit: '1' } }],
    ['a quantity of a variable', { resourceFieldRef: { divisor: '1k' } }, { resourceFieldRef: { divisor: '1000' } }],
    ['defaults within an item of an atomic list', { rules: [{ a: 1 }] }, { rules: [{ a: 1, b: 2 }] }],
  ])('true: %s', (_why, desired, live) => expect(differences(desired, live)).toEqual([]));

  it.each([
    ['another value', { a: 1 }, { a: 2 }, '.a: 2'],
    ['a missing field', { a: 1 }, {}, '.a: absent'],
    ['false is not absent', { a: false }, {}, '.a: absent'],
    ['a missing object', { a: {} }, {}, '.a: absent'],
    ['a field of a named item', container({}), container({ image: 'b' }), '.containers[main].image: "b"'],
    ['a missing named item', container({}), { containers: [] }, '.containers[main]: absent'],
    ['a longer atomic list', { args: ['a'] }, { args: ['a', 'b'] }, '.args: ["a","b"]'],
    ['the order of an atomic list', { args: ['a', 'b'] }, { args: ['b', 'a'] }, '.args[0]: "b"'],
    ['another protocol', port({}), port({ protocol: 'UDP' }), '.ports[80/TCP]: absent'],
    ['another amount', limits('1'), limits('2'), '.resources.limits.cpu: "2"'],
    ['a label that looks like a quantity', { labels: { a: '1000m' } }, { labels: { a: '1' } }, '.labels.a: "1"'],
    [
      'a label with the name of a quantity',
      { labels: { divisor: '1k' } },
      { labels: { divisor: '1000' } },
      '.labels.divisor: "1000"',
    ],
    [
      'a key that looks like the path of a quantity',
      { labels: { 'a.limits.b': '1k' } },
      { labels: { 'a.limits.b': '1000' } },
      '.labels.a.limits.b: "1000"',
    ],
    ['a list that became an object', { a: [1] }, { a: { 0: 1 } }, '.a: {"0":1}'],
  ])('false: %s', (_why, desired, live, where) => {
    expect(isSubset(desired, live)).toBe(false);
    expect(differences(desired, live)[0]).toBe(where);
  });
});

it('a key of a user with a million characters is compared in linear time, and is shortened in the path', () => {
  const key = `${'.limits.'.repeat(130_000)}[`;
  const [where] = differences({ annotations: { [key]: 'a' } }, { annotations: { [key]: 'b' } });
  expect(where).toBe(`.annotations.${key.slice(0, 317)}…: "b"`);
});

describe('Applier', () => {
  const desired: V1Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'team' },
    spec: { replicas: 2, selector: {}, template: { spec: { containers: [{ name: 'main', image: 'a' }] } } },
  };
  /** The API server's response to an apply. */
  let answer: (object: V1Deployment) => V1Deployment;
  let version = 100;
  const apply = vi.fn((...[, object]: [unknown, V1Deployment, unknown]) => Promise.resolve(answer(object)));
  let applier: Applier;
  let clock: FakeClock;

  beforeEach(() => {
    clock = new FakeClock();
    apply.mockClear();
    answer = (object) =>
      edited(object, (o) => Object.assign(o.metadata!, { uid: 'u', resourceVersion: `${++version}` }));
    const client = { apply } as unknown as Client;
    applier = new Applier({ client, fieldManager: 'manager', logger: pino({ level: 'silent' }), clock });
  });

  it('creates an absent object with force, its field manager and the hash', async () => {
    const { written, object } = await applier.apply(DEPLOYMENTS, desired, undefined);
    expect(written).toBe(true);
    expect(apply).toHaveBeenCalledExactlyOnceWith(DEPLOYMENTS, expect.anything(), {
      fieldManager: 'manager',
      force: true,
    });
    expect(object.metadata!.annotations).toEqual({ [APPLIED_HASH_ANNOTATION]: appliedHash(desired) });
  });

  it('writes nothing if the live object has the same hash and all desired values', async () => {
    const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
    expect(await applier.apply(DEPLOYMENTS, desired, object)).toEqual({ written: false, object });
    expect([object, undefined].map((live) => applier.isUpToDate(DEPLOYMENTS, desired, live))).toEqual([true, false]);
    expect(apply).toHaveBeenCalledTimes(1);
  });

  it('writes nothing after a restart either', async () => {
    await applier.apply(DEPLOYMENTS, desired, withHash(desired, appliedHash(desired)));
    expect(apply).not.toHaveBeenCalled();
  });

  it('writes if a desired field was removed', async () => {
    const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
    const smaller = edited(desired, (o) => delete o.spec!.replicas);
    expect((await applier.apply(DEPLOYMENTS, smaller, object)).written).toBe(true);
  });

  it('corrects drift', async () => {
    const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
    const drifted = answer(edited(object, (o) => (o.spec!.replicas = 5)));
    expect(applier.isUpToDate(DEPLOYMENTS, desired, drifted)).toBe(false);
    expect((await applier.apply(DEPLOYMENTS, desired, drifted)).written).toBe(true);
  });

  it('tells drift before it corrects it, and no change of the desired object', async () => {
    const told: (readonly string[])[] = [];
    const onDrift = (paths: readonly string[]) => Promise.resolve(void told.push(paths));
    const { object } = await applier.apply(DEPLOYMENTS, desired, undefined, { onDrift });
    await applier.apply(DEPLOYMENTS, desired, object, { onDrift });
    const other = edited(desired, (o) => (o.spec!.replicas = 7));
    await applier.apply(DEPLOYMENTS, other, object, { onDrift });
    expect(told).toEqual([]);
    const drifted = answer(edited(object, (o) => (o.spec!.replicas = 5)));
    await applier.apply(DEPLOYMENTS, desired, drifted, { onDrift });
    expect(told).toEqual([['.spec.replicas']]);
  });

  it('ignores fields of others', async () => {
    const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
    const shared = answer(edited(object, (o) => (o.spec!.paused = true)));
    expect((await applier.apply(DEPLOYMENTS, desired, shared)).written).toBe(false);
  });

  describe('if the API server stores another form of a value', () => {
    const asImage = (object: V1Deployment, image: string): V1Deployment =>
      edited(object, (o) => (o.spec!.template.spec!.containers[0]!.image = image));

    beforeEach(() => {
      const plain = answer;
      answer = (object) => plain(asImage(object, 'registry/a'));
    });

    it('writes once, and not in a loop', async () => {
      const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
      const later = answer(object);
      expect((await applier.apply(DEPLOYMENTS, desired, object)).written).toBe(false);
      expect((await applier.apply(DEPLOYMENTS, desired, later)).written).toBe(false);
    });

    it('still corrects drift of that value', async () => {
      const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
      const drifted = edited(asImage(object, 'evil'), (o) => (o.metadata!.resourceVersion = '999'));
      expect((await applier.apply(DEPLOYMENTS, desired, drifted)).written).toBe(true);
    });

    it('writes again if the object was replaced by another of the same name', async () => {
      const { object } = await applier.apply(DEPLOYMENTS, desired, undefined);
      const recreated = edited(object, (o) => (o.metadata!.uid = 'other'));
      expect((await applier.apply(DEPLOYMENTS, desired, recreated)).written).toBe(true);
    });
  });

  it('does not write again while the cache is stale', async () => {
    const old = answer(desired);
    await applier.apply(DEPLOYMENTS, desired, old);
    expect((await applier.apply(DEPLOYMENTS, desired, old)).written).toBe(false);
    const drifted = answer(old);
    expect((await applier.apply(DEPLOYMENTS, desired, drifted)).written).toBe(true);
  });

  it('writes another desired object at once, even if the cache is stale', async () => {
    const old = answer(desired);
    await applier.apply(DEPLOYMENTS, desired, old);
    const other = edited(desired, (o) => (o.spec!.replicas = 3));
    expect((await applier.apply(DEPLOYMENTS, other, old)).written).toBe(true);
  });

  it('writes again after an apply that failed', async () => {
    const old = answer(desired);
    apply.mockRejectedValueOnce(new Error('no'));
    await expect(applier.apply(DEPLOYMENTS, desired, old)).rejects.toThrow('no');
    expect((await applier.apply(DEPLOYMENTS, desired, old)).written).toBe(true);
  });

  describe('an object that the API server rejects', () => {
    const invalid = new ApiError({ status: 422, reason: 'Invalid', method: 'PATCH', path: '/x' });
    const live = withGeneration(1);
    const again = (what = desired, found = live) => applier.apply(DEPLOYMENTS, what, found, { prepare });
    const prepare = vi.fn(() => Promise.resolve());

    beforeEach(async () => {
      prepare.mockClear();
      apply.mockRejectedValueOnce(invalid);
      await expect(again()).rejects.toBe(invalid);
    });

    it('is neither prepared nor sent again, and the same error is thrown', async () => {
      await expect(again()).rejects.toBe(invalid);
      await expect(again(desired, answer(live))).rejects.toBe(invalid);
      expect([apply.mock.calls.length, prepare.mock.calls.length]).toEqual([1, 1]);
    });

    it('is not compared again, since it may be large', async () => {
      const unread = { ...answer(live), metadata: answer(live).metadata };
      Object.defineProperty(unread, 'spec', { get: () => expect.unreachable('the spec is compared') });
      await expect(again(desired, unread)).rejects.toBe(invalid);
    });

    it.each([
      ['the desired object changes', () => again(edited(desired, (o) => (o.spec!.replicas = 3)))],
      ['the live object has another generation', () => again(desired, withGeneration(2))],
      ['the live object is gone', () => applier.apply(DEPLOYMENTS, desired, undefined)],
      ['it is another object of the same name', () => again(desired, withGeneration(1, 'other'))],
    ])('is sent again if %s', async (_why, act) => {
      expect((await act()).written).toBe(true);
    });

    it('is sent again after 10 minutes: a policy may have changed', async () => {
      await clock.advance(REFUSAL_MS - 1);
      await expect(again()).rejects.toBe(invalid);
      await clock.advance(1);
      expect((await again()).written).toBe(true);
    });

    function withGeneration(generation: number, uid = 'u'): V1Deployment {
      return edited(desired, (o) => Object.assign(o.metadata!, { generation, uid }));
    }
  });

  it('sends an object again after a transient error', async () => {
    apply.mockRejectedValueOnce(new ApiError({ status: 403, reason: 'Forbidden', method: 'PATCH', path: '/x' }));
    await expect(applier.apply(DEPLOYMENTS, desired, undefined)).rejects.toThrow('Forbidden');
    expect((await applier.apply(DEPLOYMENTS, desired, undefined)).written).toBe(true);
  });

  it('does not change its arguments', async () => {
    const given = structuredClone(desired);
    await applier.apply(DEPLOYMENTS, given, undefined);
    expect(given).toEqual(desired);
  });
});

function withHash<T extends { metadata?: object }>(object: T, hash: string): T {
  return { ...object, metadata: { ...object.metadata, annotations: { [APPLIED_HASH_ANNOTATION]: hash } } };
}

function edited<T>(object: T, edit: (copy: T) => void): T {
  const copy = structuredClone(object);
  edit(copy);
  return copy;
}

it.each<[string, object, object, object | undefined]>([
  ['nothing, if nothing is null', { a: 1, b: { c: 2 } }, { a: 3, d: 4 }, undefined],
  ['nothing, if all that is null is absent', { a: null, b: { c: null } }, { d: 4 }, undefined],
  [
    'what is null and has a value, with the plain values next to it',
    { a: { b: null, c: 1, d: {} }, e: 2 },
    { a: { b: 3 } },
    { a: { b: null, c: 1 } },
  ],
  ['nothing in lists', { a: [{ b: null }] }, { a: [{ b: 1 }] }, undefined],
])('the patch before an apply removes %s', (_, desired, live, patch) => {
  expect(removalPatch(desired, live)).toEqual(patch);
});
