import type { V1DaemonSet, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import type { Client } from '../../../runtime/client/client.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { PodReader } from './evidence.ts';

const LABELS = { app: 'agent', 'app.kubernetes.io/instance': 'one' };
const workload = (kind: string, uid: string, generation = 1): V1DaemonSet | V1Deployment => ({
  ...{ apiVersion: 'apps/v1', kind, metadata: { namespace: 'shop', name: 'agent', uid, generation } },
  spec: { selector: { matchLabels: LABELS }, template: {} },
});
const DAEMON_SET = workload('DaemonSet', 'u1');

/** @param owner kind, name and uid of its controller */
const pod = (name: string, [kind, ownerName, uid]: [string, string, string] = ['DaemonSet', 'agent', 'u1']): V1Pod => ({
  metadata: {
    ...{ namespace: 'shop', name, uid: `uid-${name}`, labels: { ...LABELS, 'pod-template-hash': 'abc' } },
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: ownerName, uid, controller: true }],
  },
});

function scene(...answers: V1Pod[][]) {
  const asked: unknown[] = [];
  const list = (_: unknown, options: unknown) => {
    asked.push(options);
    return Promise.resolve(answers[asked.length - 1] ?? []);
  };
  const clock = new FakeClock();
  return { asked, clock, reader: new PodReader({ client: { list } as unknown as Client, clock }) };
}

const keys = async (reader: PodReader, of = DAEMON_SET) => (await reader.read(of)).map(({ key }) => key);

it('reads one page of the pods that the workload selects, once in 5 s', async () => {
  const { asked, clock, reader } = scene([pod('a')], [pod('b')]);
  for (let round = 0; round < 3; round += 1) expect(await keys(reader)).toEqual(['shop/a']);
  const labelSelector = 'app=agent,app.kubernetes.io/instance=one';
  expect(asked).toEqual([{ namespace: 'shop', labelSelector, limit: 500 }]);
  await clock.advance(5_000);
  expect(await keys(reader)).toEqual(['shop/b']);
});

it('reads them at once after a change of the workload', async () => {
  const { reader } = scene([pod('a')], [pod('b')]);
  expect(await keys(reader)).toEqual(['shop/a']);
  expect(await keys(reader, workload('DaemonSet', 'u1', 2))).toEqual(['shop/b']);
});

it('reads each workload', async () => {
  const { reader } = scene([pod('a')], [pod('b', ['DaemonSet', 'other', 'u2'])]);
  expect(await keys(reader)).toEqual(['shop/a']);
  expect(await keys(reader, workload('DaemonSet', 'u2'))).toEqual(['shop/b']);
});

it('of more pods than a page, reads those that do not run yet besides, each once', async () => {
  const page = Array.from({ length: 500 }, (_, n) => pod(`a${n}`));
  const { asked, reader } = scene(page, [pod('a7'), pod('z')]);
  const found = await keys(reader);
  expect([found.length, found.at(-1)]).toEqual([501, 'shop/z']);
  expect(asked[1]).toMatchObject({ fieldSelector: 'status.phase!=Running', limit: 500 });
  expect(asked).toHaveLength(2);
});

it('leaves pods out that the DaemonSet has not made', async () => {
  const loose = { metadata: { ...pod('loose').metadata, ownerReferences: [] } };
  const { reader } = scene([pod('theirs', ['DaemonSet', 'agent', 'before']), loose, pod('a')]);
  expect(await keys(reader)).toEqual(['shop/a']);
});

it('knows the pods of a Deployment by its name and the hash of their template', async () => {
  const deployment = workload('Deployment', 'u1');
  const others: V1Pod[] = [
    pod('other', ['ReplicaSet', 'agent-2-abc', 'r2']),
    pod('own', ['ReplicaSet', 'agent', 'r3']),
    pod('node', ['Node', 'agent-abc', 'r4']),
  ];
  const { reader } = scene([...others, pod('a', ['ReplicaSet', 'agent-abc', 'r1'])]);
  expect(await keys(reader, deployment)).toEqual(['shop/a']);
});

it('goes on without pods that it may not read', async () => {
  const refused = new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: '/api/v1/pods' });
  const client = { list: () => Promise.reject(refused) } as unknown as Client;
  expect(await keys(new PodReader({ client, clock: new FakeClock() }))).toEqual([]);
});
