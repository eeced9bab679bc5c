import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Applier } from '../apply/apply.ts';
import { NotLeaderError } from '../client/errors.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';
import { FakeApi, refusal, type Call } from '../testing/fakeApi/fakeApi.ts';
import { carryOut } from './act.ts';
import { idOf, type Member, createObjectSet } from './objectSet.ts';
import { observeSet, readLive } from './observe.ts';
import { planSet } from './plan.ts';
import { account, configMap, namespace, OWNER, type Group } from './testing/members.ts';

/** In their order; the group says nothing about what depends on what. */
const MEMBERS: readonly Member<Group>[] = [
  namespace('x', { group: 'red' }),
  account('x/account', { group: 'red' }),
  configMap('x/near', { group: 'red', dependsOn: ['ServiceAccount x/account'] }),
  configMap('y/far', { group: 'blue', dependsOn: ['ConfigMap x/near'] }),
  configMap('x/free', { group: 'red' }),
];
const SET = createObjectSet(OWNER, MEMBERS);

/** As they are in the cluster. */
const THERE = MEMBERS.map(({ resource, object }): KubeObject => ({ kind: resource.kind, ...object }));

/** Observes, plans and acts. Returns what failed, by id, and what was asked about strangers. */
async function reconcile(
  client: FakeApi,
  off: 'all' | ReadonlySet<Group> = new Set(),
  live: (member: Member) => KubeObject | undefined | Promise<KubeObject | undefined> = (each) => readLive(client, each),
): Promise<{ failed: Record<string, string>; asked: string[] }> {
  const asked: string[] = [];
  const strangersIn = (where: string): Promise<string[]> => {
    asked.push(where);
    return Promise.resolve([]);
  };
  const plan = planSet(await observeSet(SET, off, { live, unknown: new Set(), strangersIn }));
  const applier = new Applier({ client, fieldManager: 'tests', logger: pino({ level: 'silent' }) });
  const failures = await carryOut(plan, { applier, client });
  const failed = failures.map(({ member, error }) => [idOf(member), (error as Error).message]);
  return { failed: Object.fromEntries(failed) as Record<string, string>, asked };
}

function refusing(client: FakeApi, write: RegExp): FakeApi {
  client.intercept = (call) => {
    if (write.test(writeOf(call))) throw refusal(call, 403, 'Forbidden');
    return undefined;
  };
  return client;
}

/** 'apply ConfigMap a/b' */
function writeOf(call: Call): string {
  return `${call.verb} ${call.what} ${keyOf({ metadata: call })}`;
}

describe('carryOut', () => {
  it('makes everything in its order, and writes nothing the next time', async () => {
    const client = new FakeApi();
    expect((await reconcile(client)).failed).toEqual({});
    expect(client.writes).toEqual(SET.members.map((member) => `apply ${idOf(member)}`));
    await reconcile(client);
    expect(client.writes).toHaveLength(MEMBERS.length);
  });

  it('leaves out what depends on a failed object, by way of others too, and nothing else', async () => {
    const client = refusing(new FakeApi(), /^apply ServiceAccount x.account$/);
    const { failed } = await reconcile(client);
    expect(Object.keys(failed)).toEqual(['ServiceAccount x/account']);
    expect(client.writes).toEqual(['apply Namespace x', 'apply ConfigMap x/free']);
  });

  it('returns every failure', async () => {
    const client = refusing(new FakeApi(), /^apply .*(account|free)/);
    expect(Object.keys((await reconcile(client)).failed)).toEqual(['ServiceAccount x/account', 'ConfigMap x/free']);
  });

  it('removes in the reverse order', async () => {
    const client = new FakeApi(...THERE);
    await reconcile(client, 'all');
    expect(client.writes).toEqual(SET.members.toReversed().map((member) => `delete ${idOf(member)}`));
  });

  it('keeps what an object depends on that could not be removed', async () => {
    const client = refusing(new FakeApi(...THERE), /^delete ConfigMap x.near$/);
    const { failed } = await reconcile(client, 'all');
    expect(Object.keys(failed)).toEqual(['ConfigMap x/near']);
    expect(client.writes).toEqual(['delete ConfigMap x/free', 'delete ConfigMap y/far']);
  });

  it('deletes the very object that was observed, not one that took its name since', async () => {
    const withUid = (uid: string) => (object: KubeObject) => ({
      ...object,
      metadata: Object.assign({}, object.metadata, { uid }),
    });
    const client = new FakeApi(...THERE.map(withUid('new')));
    const { failed } = await reconcile(client, 'all', ({ object }) => withUid('old')(object));
    expect(failed).toMatchObject({ 'ConfigMap x/free': expect.stringContaining('Conflict') as string });
    expect(client.objects.size).toBe(MEMBERS.length);
  });

  it('stops at once when this process does not lead', async () => {
    const client = new FakeApi();
    client.intercept = ({ verb }) => {
      if (verb === 'apply') throw new NotLeaderError();
      return undefined;
    };
    await expect(reconcile(client)).rejects.toThrow(NotLeaderError);
  });
});

describe('observeSet', () => {
  it.each([
    { why: 'the set is on', off: new Set<Group>(), there: THERE, asked: [] },
    { why: 'a Namespace has to go', off: 'all' as const, there: THERE, asked: ['x'] },
    { why: 'a group that is on needs the Namespace', off: new Set<Group>(['red']), there: THERE, asked: [] },
    { why: 'the Namespace is gone', off: 'all' as const, there: THERE.slice(1), asked: [] },
  ])('asks for strangers in $asked when $why', async ({ off, there, asked }) => {
    expect((await reconcile(new FakeApi(...there), off)).asked).toEqual(asked);
  });
});
