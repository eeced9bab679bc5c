import type { V1Lease } from '@kubernetes/client-node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FakeClock } from '../process/clock.ts';
import type { Informer, InformerEvent } from '../cache/informer.ts';
import { Electorate, type FakeLeases } from './testing/electors.ts';

let electorate: Electorate;
let clock: FakeClock;
let server: FakeLeases;

beforeEach(() => {
  electorate = new Electorate();
  ({ clock, server } = electorate);
});

describe('taking the lease', () => {
  it('creates the lease if it does not exist', async () => {
    const { elector } = await electorate.start('a');
    expect(elector.isLeader).toBe(true);
    expect(server.lease!.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
  });

  it('renews it every 2 s and keeps its acquireTime', async () => {
    await electorate.start('a');
    await clock.advance(6_000);
    expect(server.writes.map(({ spec }) => spec.renewTime!.slice(17, 19))).toEqual(['00', '02', '04', '06']);
    expect(server.lease!.spec).toMatchObject({ acquireTime: '2026-01-01T00:00:00.000000Z', leaseTransitions: 0 });
  });

  it('uses only its own connection', async () => {
    await electorate.start('a');
    await clock.advance(6_000);
    expect(server.requests.map(({ lane }) => lane)).not.toContain(undefined);
  });

  it('does not take a lease that its holder renews', async () => {
    await electorate.start('a');
    const { elector } = await electorate.start('b');
    await clock.advance(120_000);
    expect(elector.isLeader).toBe(false);
    expect(server.writes.every(({ client }) => client === 'a')).toBe(true);
  });

  it('does not read a lease whose renewals the watch tells, and reads it again once it tells none', async () => {
    await electorate.start('a');
    const watch = fakeInformer();
    const { elector } = await electorate.start('b', { leases: watch.informer });
    const reads = () => server.requests.filter(({ method }) => method === 'GET').length;
    const before = reads();
    for (let n = 0; n < 30; n += 1) {
      await clock.advance(2_000);
      watch.tell({ type: 'update', object: server.lease as unknown as V1Lease });
    }
    expect(reads()).toBeLessThanOrEqual(before + 2);
    const silent = reads();
    await clock.advance(10_000);
    expect(reads()).toBeGreaterThanOrEqual(silent + 4);
    expect(elector.isLeader).toBe(false);
  });

  it('takes a lease that was unchanged for its duration, and counts the transition', async () => {
    const a = await electorate.start('a');
    const { elector } = await electorate.start('b');
    server.network.set('a', 'refused');
    await clock.advance(14_999);
    expect(elector.isLeader).toBe(false);
    await clock.advance(1);
    expect(elector.isLeader).toBe(true);
    expect(a.elector.isLeader).toBe(false);
    expect(server.lease!.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it.each(['1970-01-01T00:00:00.000000Z', '2099-01-01T00:00:00.000000Z'])(
    'does not compare the times in the lease with its clock: renewed in %s',
    async (renewTime) => {
      server.replace({ holderIdentity: 'other', leaseDurationSeconds: 15, renewTime });
      const { elector } = await electorate.start('b');
      await clock.advance(14_999);
      expect(elector.isLeader).toBe(false);
      await clock.advance(1);
      expect(elector.isLeader).toBe(true);
    },
  );

  it('succeeds for only one of two concurrent candidates', async () => {
    server.replace({ holderIdentity: '', leaseDurationSeconds: 1 });
    const [a, b] = await Promise.all([electorate.start('a'), electorate.start('b')]);
    await clock.advance(5_000);
    expect([a.elector.isLeader, b.elector.isLeader].filter(Boolean)).toHaveLength(1);
  });
});

describe('releasing the lease', () => {
  it('clears the holder when stopped, after leadership has ended', async () => {
    const a = await electorate.start('a');
    a.stop();
    expect(a.leadership().signal.aborted).toBe(false);
    await a.ended;
    expect(a.leadership().signal.aborted).toBe(true);
    expect(server.lease!.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(clock.pending).toBe(0);
  });

  it('lets a standby without a watch take over within 3 s', async () => {
    const a = await electorate.start('a');
    const b = await electorate.start('b');
    await clock.advance(10_000);
    a.stop();
    await clock.advance(3_000);
    expect(b.elector.isLeader).toBe(true);
  });

  it.each(['update', 'delete'] as const)('lets a standby with a watch take over at once: %s', async (type) => {
    const a = await electorate.start('a');
    const watch = fakeInformer();
    const b = await electorate.start('b', { leases: watch.informer });
    a.stop();
    await a.ended;
    expect(b.elector.isLeader).toBe(false);
    watch.tell({ type, object: server.lease as unknown as V1Lease });
    await clock.advance(0);
    expect(b.elector.isLeader).toBe(true);
  });

  it('writes nothing if it does not lead', async () => {
    await electorate.start('a');
    const b = await electorate.start('b');
    b.stop();
    await b.ended;
    expect(server.lease!.spec!.holderIdentity).toBe('a');
  });

  it('also releases a lease whose last renewal got no response', async () => {
    const a = await electorate.start('a');
    server.network.set('a', 'answer lost');
    await clock.advance(2_000);
    server.network.delete('a');
    a.stop();
    await a.ended;
    expect(server.lease!.spec!.holderIdentity).toBe('');
  });

  it('releases a lease if it was stopped while taking it, and the request succeeded', async () => {
    server.network.set('a', 'answer lost');
    const a = await electorate.start('a');
    expect([a.elector.isLeader, server.lease!.spec!.holderIdentity]).toEqual([false, 'a']);
    server.network.delete('a');
    a.stop();
    await a.ended;
    expect(server.lease!.spec!.holderIdentity).toBe('');
  });

  it('does not release a lease that another process has taken', async () => {
    server.network.set('a', 'answer lost');
    const a = await electorate.start('a');
    server.network.delete('a');
    server.replace({ holderIdentity: 'b', leaseDurationSeconds: 15 });
    a.stop();
    await a.ended;
    expect(server.lease!.spec!.holderIdentity).toBe('b');
  });

  it('waits at most 2.5 s for an API server that does not respond', async () => {
    const a = await electorate.start('a');
    server.network.set('a', 'hangs');
    a.stop();
    await clock.advance(2_500);
    await a.ended;
  });
});

describe('losing the lease', () => {
  it.each(['refused', 'hangs', 'answer lost'] as const)(
    'ends leadership 10 s after the start of the last good renewal: %s',
    async (network) => {
      const a = await electorate.start('a');
      await clock.advance(4_000);
      server.network.set('a', network);
      await clock.advance(9_999);
      expect(a.leadership().signal.aborted).toBe(false);
      await clock.advance(1);
      expect(a.leadership().signal.aborted).toBe(true);
      expect(a.stopped).toHaveBeenCalledTimes(1);
    },
  );

  it('counts from the start of the request, not from the response: taking it', async () => {
    server.network.set('a', 'slow');
    const a = await electorate.start('a');
    await clock.advance(4_000);
    server.network.set('a', 'refused');
    await clock.advance(5_999);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
  });

  it('counts from the start of the request, not from the response: renewing it', async () => {
    const a = await electorate.start('a');
    server.network.set('a', 'slow');
    await clock.advance(3_999);
    server.network.set('a', 'refused');
    await clock.advance(8_000);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
  });

  it('does not happen for failures that are shorter than the deadline', async () => {
    const a = await electorate.start('a');
    server.network.set('a', 'answer lost');
    await clock.advance(7_999);
    server.network.delete('a');
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.stopped).not.toHaveBeenCalled();
  });

  it('ends leadership at once if another process holds the lease', async () => {
    const a = await electorate.start('a');
    server.replace({ holderIdentity: 'other', leaseDurationSeconds: 15 });
    await clock.advance(2_000);
    expect(a.leadership().signal.aborted).toBe(true);
    expect(server.lease!.spec!.holderIdentity).toBe('other');
  });

  it('does not happen if the lease was deleted: it creates a new one', async () => {
    const a = await electorate.start('a');
    server.lease = undefined;
    await clock.advance(4_000);
    expect(a.leadership().signal.aborted).toBe(false);
    expect(server.lease!.spec!.holderIdentity).toBe('a');
  });

  it('is followed by standby, and by leading again when possible', async () => {
    const a = await electorate.start('a');
    const first = a.leadership();
    server.network.set('a', 'refused');
    await clock.advance(30_000);
    server.network.delete('a');
    await clock.advance(3_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.leadership()).not.toBe(first);
    expect(first.isLeader).toBe(false);
    expect([a.started.mock.calls.length, a.stopped.mock.calls.length]).toEqual([2, 1]);
  });

  it('survives callbacks that throw', async () => {
    const a = await electorate.start('a', {
      onStartedLeading: () => {
        throw new Error('broken');
      },
    });
    await clock.advance(2_000);
    expect(server.writes).toHaveLength(2);
    expect(a.elector.isLeader).toBe(true);
  });
});

function fakeInformer() {
  let listener: (event: InformerEvent<V1Lease>) => void = () => undefined;
  const subscribe = (to: typeof listener) => {
    listener = to;
    return () => undefined;
  };
  const informer = { subscribe } as unknown as Informer<V1Lease>;
  return { informer, tell: (event: InformerEvent<V1Lease>) => listener(event) };
}
