import type { EventsV1Event } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { EventReader } from './evidence.ts';

const QUESTION = { namespace: 'shop', uid: 'u1' };

function reader(answer: () => EventsV1Event[], only?: string) {
  const asked: unknown[] = [];
  const client = {
    list: (_: unknown, options: unknown) => {
      asked.push(options);
      return Promise.resolve().then(answer);
    },
  } as unknown as Pick<Client, 'list'>;
  const clock = new FakeClock();
  return { asked, clock, reader: new EventReader({ client, clock, only }) };
}

it('reads Events of both APIs, once in 5 s for an object', async () => {
  const old = { type: 'Warning', reason: 'FailedCreate', note: 'no', deprecatedLastTimestamp: new Date(5_000) };
  const series = { count: 2, lastObservedTime: '1970-01-01T00:00:07.5Z' };
  const scene = reader(() => [old, { type: 'Normal', reason: 'Pulled', series }] as unknown as EventsV1Event[]);
  const events = await scene.reader.read(QUESTION);
  expect(events).toEqual([
    { isWarning: true, reason: 'FailedCreate', message: 'no', at: 5_000 },
    { isWarning: false, reason: 'Pulled', message: '', at: 7_500 },
  ]);
  expect(await scene.reader.read(QUESTION)).toBe(events);
  expect(scene.asked).toEqual([{ namespace: 'shop', fieldSelector: 'regarding.uid=u1' }]);
  await scene.reader.read({ ...QUESTION, uid: 'u2' });
  await scene.clock.advance(5_000);
  await scene.reader.read(QUESTION);
  expect(scene.asked).toHaveLength(3);
});

it('goes on without Events that it may not read', async () => {
  const path = '/apis/events.k8s.io/v1/namespaces/shop/events';
  const scene = reader(() => {
    throw new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path });
  });
  expect(await scene.reader.read(QUESTION)).toEqual([]);
});

it('asks for no Events of another namespace than the one whose Events it may read', async () => {
  const scene = reader(() => [], 'ops');
  expect(await scene.reader.read(QUESTION)).toEqual([]);
  expect(scene.asked).toEqual([]);
  await scene.reader.read({ ...QUESTION, namespace: 'ops' });
  expect(scene.asked).toHaveLength(1);
});
