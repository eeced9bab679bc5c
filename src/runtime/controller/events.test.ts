import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { NotLeaderError } from '../client/errors.ts';
import { FakeApi, refusal, type Call } from '../testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../testing/fakeApi/overrides.ts';
import { EventRecorder } from './events.ts';

const about = {
  apiVersion: 'traffic.example.com/v1alpha1',
  kind: 'TrafficWatch',
  metadata: { name: 'web', namespace: 'team', uid: 'u1' },
};

interface Sent {
  metadata: { name: string; namespace: string };
  [field: string]: unknown;
}

describe('EventRecorder', () => {
  let clock: FakeClock;
  let recorder: EventRecorder;
  /** Lines logged at level info or above. */
  let lines: string[];
  let api: FakeApi;
  const calls = (verb: Call['verb']): Call[] => api.calls.filter((call) => call.verb === verb);
  /** The events that were sent, refused ones too. */
  const created = (): Sent[] => calls('create').map(({ body }) => body as Sent);
  const metrics = { written: vi.fn(), dropped: vi.fn() };

  beforeEach(() => {
    vi.resetAllMocks();
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    api = new FakeApi();
    lines = [];
    const logger = pino({ base: null }, { write: (line) => void lines.push(line) });
    recorder = new EventRecorder({
      client: api,
      component: 'example.com/op',
      instance: 'op-1',
      clock,
      logger,
      metrics,
    });
  });

  it('does not keep the objects that events are about in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const record = (): WeakRef<object> => {
      const large = { ...about, spec: { text: 'x'.repeat(1_000) } };
      recorder.event(large, 'Normal', 'Ready', 'the object is large');
      return new WeakRef(large);
    };
    const kept = record();
    await recorder.flush();
    await vi.waitFor(() => {
      collect();
      // A failed assertion would keep the object.
      expect(kept.deref() === undefined).toBe(true);
    });
  });

  it('writes a valid event of events.k8s.io/v1', async () => {
    recorder.event(about, 'Warning', 'NodeUnfit', 'node a is full', 'Label');
    await recorder.flush();
    const [event] = created();
    expect(event?.metadata.name).toMatch(/^web\.[0-9a-f]+$/);
    expect(event).toMatchObject({
      metadata: { namespace: 'team' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'example.com/op',
      reportingInstance: 'op-1',
      action: 'Label',
      reason: 'NodeUnfit',
      type: 'Warning',
      note: 'node a is full',
      regarding: { kind: 'TrafficWatch', name: 'web', namespace: 'team', uid: 'u1' },
    });
    expect(metrics.written).toHaveBeenCalledExactlyOnceWith('Warning', 'NodeUnfit');
  });

  it('logs once that it may not write events, and again after a successful write', async () => {
    const detail = 'cannot create resource "events"';
    const may = [false, false, true, false];
    refuseOn(api, (call) =>
      call.verb === 'create' && may.shift() === false ? refusal(call, 403, 'Forbidden', detail) : undefined,
    );
    for (const note of ['a', 'b']) recorder.event(about, 'Normal', 'Fit', note);
    await recorder.flush();
    expect(lines).toEqual([expect.stringContaining('cannot create resource')]);
    for (const note of ['c', 'd']) recorder.event(about, 'Normal', 'Fit', note);
    await recorder.flush();
    expect(lines).toHaveLength(2);
  });

  it('writes events about cluster-scoped objects to the namespace default', async () => {
    recorder.event({ kind: 'Node', metadata: { name: 'a' } }, 'Normal', 'Fit', 'n');
    await recorder.flush();
    expect(created()[0]?.metadata.namespace).toBe('default');
  });

  it('increases the series count of the existing event for a repeat', async () => {
    for (let repeat = 0; repeat < 3; repeat++) {
      recorder.event(about, 'Normal', 'Fit', 'n');
      await recorder.flush();
      await clock.advance(60_000);
    }
    const [event] = created();
    expect(created()).toHaveLength(1);
    expect(calls('patch').map(({ name, body }) => [name, body])).toEqual([
      [event?.metadata.name, { series: { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' } }],
      [event?.metadata.name, { series: { count: 3, lastObservedTime: '2026-01-01T00:02:00.000000Z' } }],
    ]);
  });

  it('merges repeats that come faster than they can be written', async () => {
    for (let repeat = 0; repeat < 100; repeat++) recorder.event(about, 'Normal', 'Fit', 'n');
    await recorder.flush();
    expect(created()).toHaveLength(1);
    expect(calls('patch').map(({ body }) => body)).toMatchObject([{ series: { count: 100 } }]);
  });

  it('merges repeats of a waiting event into one event with a series', async () => {
    recorder.event(about, 'Normal', 'First', 'n');
    recorder.event(about, 'Normal', 'Fit', 'n');
    recorder.event(about, 'Normal', 'Fit', 'n');
    await recorder.flush();
    expect(created()[1]).toMatchObject({ reason: 'Fit', series: { count: 2 } });
    expect(calls('patch')).toEqual([]);
  });

  it.each([
    ['another object', { ...about, metadata: { ...about.metadata, uid: 'u2' } }, 'Fit', 'n', 0],
    ['another reason', about, 'Unfit', 'n', 0],
    ['another note', about, 'Fit', 'm', 0],
    ['the same more than 10 minutes later', about, 'Fit', 'n', 600_001],
  ])('writes a new event for %s', async (_why, object, reason, note, after) => {
    recorder.event(about, 'Normal', 'Fit', 'n');
    await recorder.flush();
    await clock.advance(after);
    recorder.event(object, 'Normal', reason, note);
    await recorder.flush();
    expect(created()).toHaveLength(2);
    expect(created()[0]?.metadata.name).not.toBe(created()[1]?.metadata.name);
  });

  it('writes a new event if the existing one was deleted', async () => {
    recorder.event(about, 'Normal', 'Fit', 'n');
    await recorder.flush();
    api.objects.clear();
    recorder.event(about, 'Normal', 'Fit', 'n');
    await recorder.flush();
    expect(created()).toHaveLength(2);
  });

  it.each([
    ['failed', new Error('no')],
    ['standby', new NotLeaderError()],
  ])('counts an event that could not be written as %s, and continues', async (cause, error) => {
    const errors = [error];
    refuseOn(api, () => errors.shift());
    recorder.event(about, 'Normal', 'Fit', 'n');
    recorder.event(about, 'Normal', 'Unfit', 'n');
    await recorder.flush();
    expect(metrics.dropped).toHaveBeenCalledExactlyOnceWith(cause);
    expect(created()).toHaveLength(2);
  });

  /** Records different events about an object of a namespace. */
  const record = (namespace: string, count: number): void => {
    const object = { ...about, metadata: { namespace, name: 'web', uid: `uid-${namespace}` } };
    for (let n = 0; n < count; n++) recorder.event(object, 'Normal', 'Fit', `note ${n} at ${clock.now()}`);
  };
  const createdIn = (namespace: string): number =>
    created().filter(({ metadata }) => metadata.namespace === namespace).length;
  const block = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    api.intercept = () => promise;
    return () => resolve(undefined);
  };

  it('writes all 5,000 events of a pass over 200 TrafficWatches of a namespace, then two a second', async () => {
    record('shop', 5_003);
    await recorder.flush();
    expect(createdIn('shop')).toBe(5_000);
    expect(metrics.dropped.mock.calls).toEqual([['allowance'], ['allowance'], ['allowance']]);
    expect(lines).toEqual([expect.stringContaining('"about":"shop","cause":"allowance"')]);
    await clock.advance(10_000);
    record('shop', 100);
    record('team', 100);
    await recorder.flush();
    expect([createdIn('shop'), createdIn('team')]).toEqual([5_020, 100]);
  });

  it('gives each cluster-scoped object an allowance of its own', async () => {
    for (const name of ['one', 'two']) {
      const stack = { kind: 'TrafficStack', metadata: { name } };
      for (let n = 0; n < 3_000; n++) recorder.event(stack, 'Normal', 'Ready', `note ${n}`);
    }
    await recorder.flush();
    expect(metrics.dropped).not.toHaveBeenCalled();
    expect(createdIn('default')).toBe(6_000);
  });

  it('lets namespaces take turns', async () => {
    record('shop', 100);
    record('team', 2);
    await recorder.flush();
    const order = created().map(({ metadata }) => metadata.namespace);
    expect(order.slice(0, 6)).toEqual(['shop', 'shop', 'team', 'shop', 'team', 'shop']);
  });

  it('drops the newest events of the namespaces with most when 10,000 wait', async () => {
    const unblock = block();
    for (const namespace of ['a', 'b', 'c']) record(namespace, 4_000);
    record('team', 10);
    const dropped = metrics.dropped.mock.calls.length;
    expect(metrics.dropped.mock.calls.every(([cause]) => cause === 'full')).toBe(true);
    unblock();
    await recorder.flush();
    expect(createdIn('team')).toBe(10);
    expect(created()).toHaveLength(10_001);
    expect(dropped).toBe(12_010 - 10_001);
    const [least = 0] = ['a', 'b', 'c'].map(createdIn).toSorted((one, other) => one - other);
    expect(least).toBeGreaterThan(3_300);
  });

  it('shortens fields to the limits of the API server', async () => {
    const name = `${'a'.repeat(230)}.${'b'.repeat(22)}`;
    recorder.event({ kind: 'Node', metadata: { name } }, 'Normal', 'R'.repeat(200), 'ä'.repeat(1000));
    await recorder.flush();
    const event = created()[0]!;
    expect(event.metadata.name.length).toBeLessThanOrEqual(253);
    expect(event.reason).toBe('R'.repeat(128));
    expect(Buffer.byteLength(event.note as string)).toBeLessThanOrEqual(1024);
    expect(event.note).toMatch(/^ä+…$/);
  });
});
