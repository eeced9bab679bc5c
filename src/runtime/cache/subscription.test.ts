import type { V1ConfigMap } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import type { InformerEvent } from './store.ts';
import { Subscription } from './subscription.ts';

const object = (name: string, text = ''): V1ConfigMap => ({ metadata: { namespace: 'a', name }, data: { text } });
const add = (name: string, text = ''): InformerEvent<V1ConfigMap> => ({ type: 'add', object: object(name, text) });
const update = (name: string, from: string, to: string): InformerEvent<V1ConfigMap> => ({
  type: 'update',
  object: object(name, to),
  old: object(name, from),
});
const deletion = (name: string): InformerEvent<V1ConfigMap> => ({ type: 'delete', object: object(name) });

/** A subscription whose listener throws for objects with these names. */
function cast(...bad: string[]) {
  const clock = new FakeClock();
  const throwsAt = new Set(bad);
  const told: { at: number; event: InformerEvent<V1ConfigMap> }[] = [];
  const failed: InformerEvent<V1ConfigMap>[] = [];
  const subscription = new Subscription<V1ConfigMap>({
    clock,
    listener: (event) => {
      told.push({ at: clock.monotonic(), event });
      if (throwsAt.has(event.object.metadata?.name ?? '')) throw new Error('not today');
    },
    onFailure: (_, event) => void failed.push(event),
  });
  const toldOf = (name: string) => told.filter(({ event }) => event.object.metadata?.name === name);
  return { clock, throwsAt, told, failed, subscription, toldOf };
}

it('delivers an event whose listener threw again after at most a second, until the listener succeeds', async () => {
  const { clock, throwsAt, failed, subscription, toldOf } = cast('x');
  subscription.tell(add('x'));
  subscription.tell(add('y'));
  throwsAt.clear();
  await clock.advance(1_000);

  expect(toldOf('x').map(({ event }) => event)).toEqual([add('x'), add('x')]);
  expect(toldOf('y')).toHaveLength(1);
  expect(failed).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

it('delivers it with backoff, at least every 30 s, as long as the object exists', async () => {
  const { clock, toldOf, subscription } = cast('x');
  subscription.tell(add('x'));
  await clock.advance(600_000);

  const times = toldOf('x').map(({ at }) => at);
  const pauses = times.slice(1).map((at, n) => at - times[n]!);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500);
  expect(Math.max(...pauses)).toBeGreaterThan(15_000);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
  expect(600_000 - times.at(-1)!).toBeLessThanOrEqual(30_000);
  expect(times.length).toBeLessThan(50);
});

it('resets the backoff once the listener has succeeded for all events', async () => {
  const { clock, throwsAt, toldOf, subscription } = cast('x');
  subscription.tell(add('x'));
  await clock.advance(120_000);
  throwsAt.clear();
  await clock.advance(30_000);
  throwsAt.add('y');
  subscription.tell(add('y'));
  await clock.advance(1_000);

  expect(toldOf('y')).toHaveLength(2);
});

it.each([
  {
    why: 'the listener does not know the object',
    missed: add('x', '1'),
    next: update('x', '1', '2'),
    joined: add('x', '2'),
  },
  {
    why: 'the listener knows the object before the missed change',
    missed: update('x', '0', '1'),
    next: update('x', '1', '2'),
    joined: update('x', '0', '2'),
  },
  { why: 'the object is gone', missed: update('x', '0', '1'), next: deletion('x'), joined: deletion('x') },
  { why: 'it is another object with the same name', missed: deletion('x'), next: add('x', '1'), joined: add('x', '1') },
])('delivers a new change at once, as $joined.type after a missed $missed.type: $why', async (row) => {
  const { clock, throwsAt, toldOf, subscription } = cast('x');
  subscription.tell(row.missed);
  throwsAt.clear();
  subscription.tell(row.next);
  await clock.advance(60_000);

  expect(toldOf('x').map(({ event }) => event)).toEqual([row.missed, row.joined]);
});

it('gives up a deletion after 7 deliveries, so that memory does not grow without limit', async () => {
  const { clock, toldOf, subscription } = cast('x');
  subscription.tell(deletion('x'));
  await clock.advance(600_000);

  expect(toldOf('x')).toHaveLength(7);
  expect(clock.pending).toBe(0);
});

it('delivers nothing once it has ended', async () => {
  const { clock, toldOf, subscription } = cast('x');
  subscription.tell(add('x'));
  subscription.end();
  subscription.tell(add('x'));
  await clock.advance(60_000);

  expect(toldOf('x')).toHaveLength(1);
  expect(clock.pending).toBe(0);
});
