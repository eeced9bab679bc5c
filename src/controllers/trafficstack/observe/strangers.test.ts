import { expect, it } from 'vitest';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Client } from '../../../runtime/client/client.ts';
import type { KubeObject, ObjectRef } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { StrangerReader } from './strangers.ts';

function scene() {
  const clock = new FakeClock();
  const asked: string[] = [];
  const answers = new Map<string, KubeObject | ApiError>();
  const get = ({ plural: path }: { plural: string }, { name }: ObjectRef): Promise<KubeObject> => {
    asked.push(`${path} ${name}`);
    const answer = answers.get(name) ?? new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path });
    return answer instanceof ApiError ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const list = ({ plural: path }: { plural: string }): Promise<KubeObject[]> => {
    asked.push(`all ${path}`);
    return Promise.resolve([...answers.values()].flatMap((each) => (each instanceof ApiError ? [] : [each])));
  };
  const reader = new StrangerReader({ client: { get, list } as unknown as Client, clock });
  const of = (name: string) => ({ resource: DEPLOYMENTS, object: { metadata: { namespace: 'shop', name } } });
  return { clock, asked, answers, reader, of };
}

it('an object is read once in 5 s, also one that is missing', async () => {
  const { clock, asked, answers, reader, of } = scene();
  for (let round = 0; round < 5; round += 1) expect(await reader.read(of('db'))).toBeUndefined();
  await reader.read({ ...of('db'), resource: SERVICES });
  expect(asked).toEqual(['deployments db', 'services db']);
  const db = { metadata: { namespace: 'shop', name: 'db' } };
  answers.set('db', db);
  await clock.advance(4_999);
  expect(await reader.read(of('db'))).toBeUndefined();
  await clock.advance(1);
  expect(await reader.read(of('db'))).toBe(db);
});

it('all objects of a kind are listed once in 5 s', async () => {
  const { clock, asked, answers, reader } = scene();
  for (let round = 0; round < 5; round += 1) expect(await reader.list(DEPLOYMENTS)).toEqual([]);
  await reader.list(SERVICES);
  expect(asked).toEqual(['all deployments', 'all services']);
  answers.set('db', { metadata: { name: 'db' } });
  await clock.advance(5_000);
  expect(await reader.list(DEPLOYMENTS)).toHaveLength(1);
});

it('a failure is not kept', async () => {
  const { answers, reader, of } = scene();
  answers.set('db', new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: 'x' }));
  await expect(reader.read(of('db'))).rejects.toThrow();
  answers.delete('db');
  expect(await reader.read(of('db'))).toBeUndefined();
});

it('stacks that ask at the same time share a read', async () => {
  const { asked, reader, of } = scene();
  await Promise.all([reader.read(of('db')), reader.read(of('db')), reader.list(DEPLOYMENTS), reader.list(DEPLOYMENTS)]);
  expect(asked).toEqual(['deployments db', 'all deployments']);
});
