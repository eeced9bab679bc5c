import { isDeepStrictEqual } from 'node:util';
import { expect, it, vi } from 'vitest';
import { ApiError, TransportError, WaitingError } from '../../runtime/client/errors.ts';
import type { KubeObject, ObjectRef } from '../../runtime/client/resource.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import type { PlannedSource } from '../plan/plan.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../records/endpoint.ts';
import { sourceOfIngress } from '../records/source.ts';
import {
  LAST_CALLS_MS,
  NOTHING_BEFORE,
  ROUND_MS,
  writeRecords,
  type RecordWriters,
  type Written,
} from './writeRecords.ts';

function endpoint(name: string, hosts: readonly string[], namespace = 'shop'): DnsEndpoint {
  return {
    metadata: { name, namespace },
    spec: { endpoints: hosts.map((dnsName) => ({ dnsName, targets: ['lb.example.net'], recordType: 'CNAME' })) },
  };
}

function planned(
  name: string,
  desired: readonly string[],
  live?: readonly string[],
  namespace = 'shop',
): PlannedSource {
  return {
    ...{ source: sourceOfIngress({ metadata: { name, namespace } }), hosts: [], hasLostAddress: false },
    desired: endpoint(name, desired, namespace),
    live: live && endpoint(name, live, namespace),
  };
}

/** Writers that only tell the order of the writes; the real ones are in the integration tests. */
function writers(apply: (name: string) => Promise<void>, { written = false } = {}) {
  return {
    clock: new FakeClock(),
    logger: { info: vi.fn() },
    client: { delete: (_: unknown, { name }: ObjectRef) => apply(`-${name}`) },
    applier: {
      isUpToDate: (_: unknown, desired: KubeObject, live: KubeObject | undefined) => isDeepStrictEqual(desired, live),
      async apply<T extends KubeObject>(_: unknown, desired: T) {
        await apply(desired.metadata?.name ?? '');
        return { written, object: desired };
      },
    },
    endpoints: { wrote: () => undefined },
  } satisfies RecordWriters;
}

it('adds a host before it is taken away elsewhere', async () => {
  const order: string[] = [];
  const slow = async (name: string): Promise<void> => {
    await new Promise(setImmediate);
    order.push(name);
  };
  const sources = [
    planned('loses', ['a'], ['a', 'b']),
    planned('same', ['c'], ['c']),
    planned('gets', ['b', 'd'], ['d']),
  ];
  const { failures } = await writeRecords({ sources, removed: [endpoint('gone', ['d'])] }, writers(slow));
  expect(order).toEqual(['gets', 'loses', '-gone']);
  expect(failures).toEqual(new Map());
});

it.each([
  ['cannot be written', new Error('no'), 'rejects'],
  ['was overtaken', new ApiError({ status: 409, reason: 'Conflict', method: 'PATCH', path: '/x' }), 'waits'],
])('takes nothing away while the one that gets the host %s', async (_, error, what) => {
  const done: string[] = [];
  const apply = (name: string): Promise<void> => {
    if (name === 'gets') return Promise.reject(error);
    done.push(name);
    return Promise.resolve();
  };
  const sources = [
    planned('gets', ['b'], []),
    planned('loses', ['a'], ['a', 'b']),
    // Its host b was to move to `gets`, so this write is skipped, and its new host e is missing.
    planned('both', ['e'], ['b']),
    planned('last', ['f'], ['f', 'e']),
    planned('other', ['c'], ['c', 'd']),
  ];
  const writing = writeRecords(
    { sources, removed: [endpoint('gone', ['b', 'x']), endpoint('left', ['y'])] },
    writers(apply),
  );
  expect((await writing).overtaken).toBe(what === 'waits' ? 'shop/gets' : undefined);
  expect(done).toEqual(['other', '-left']);
});

it('lets others run while it compares many DNSEndpoints', async () => {
  let turns = 0;
  const count = (): void => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const comparing = writers(() => Promise.resolve());
  comparing.applier.isUpToDate = () => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    return true;
  };
  await writeRecords({ sources: Array.from({ length: 60 }, () => planned('web', ['a'])), removed: [] }, comparing);
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(2);
});

const CONFLICT = { status: 409, reason: 'Conflict', method: 'DELETE', path: '/x' };

it.each([
  ['created one meanwhile', new WaitingError('AlreadyExists', 'created by another client', 1)],
  ['changed one meanwhile', new ApiError(CONFLICT)],
])('plans again if another client %s, which is not a failure', async (_, error) => {
  const apply = (name: string): Promise<void> => (name === 'a' ? Promise.reject(error) : Promise.resolve());
  const sources = ['a', 'b'].map((name) => planned(name, [name]));
  expect(await writeRecords({ sources, removed: [] }, writers(apply))).toMatchObject({ overtaken: 'shop/a', left: 0 });
  const other = new Error('no');
  const both = (name: string): Promise<void> => Promise.reject(name === 'a' ? error : other);
  expect((await writeRecords({ sources, removed: [] }, writers(both))).failures).toEqual(new Map([['shop/b', other]]));
});

it('takes over no DNSEndpoint that another client creates meanwhile, and removes only the version of the plan', async () => {
  const calls: unknown[] = [];
  const { client, applier, ...others } = writers(() => Promise.resolve());
  const telling: RecordWriters = {
    client: {
      delete: (_, ref, options) => {
        calls.push(options);
        return client.delete(DNS_ENDPOINTS, ref);
      },
    },
    applier: {
      isUpToDate: () => false,
      apply: (resource, desired, live, call) => {
        calls.push(call);
        return applier.apply(resource, desired);
      },
    },
    ...others,
  };
  const gone = { ...endpoint('gone', ['b']), metadata: { name: 'gone', uid: 'u1', resourceVersion: '7' } };
  await writeRecords({ sources: [planned('a', ['a'])], removed: [gone] }, telling);
  expect(calls).toMatchObject([
    { takesNothingOver: true, createsByApply: true },
    { preconditions: { uid: 'u1', resourceVersion: '7' } },
  ]);
});

it('goes on after a failure, and tells it', async () => {
  const done: string[] = [];
  const failing = (name: string): Promise<void> => {
    done.push(name);
    return name === 'b' ? Promise.reject(new Error('no')) : Promise.resolve();
  };
  const sources = ['a', 'b', 'c'].map((name) => planned(name, [name]));
  expect(await writeRecords({ sources, removed: [] }, writers(failing))).toEqual({
    ...{ written: 0, left: 0, slow: new Set(), unwritten: new Set(['shop/b']) },
    failures: new Map([['shop/b', new Error('no')]]),
  });
  expect(done).toEqual(['a', 'b', 'c']);
});

it('tells in one line what was written, and names the first', async () => {
  const failing = (name: string): Promise<void> => (name === 'b' ? Promise.reject(new Error('no')) : Promise.resolve());
  const all = writers(failing, { written: true });
  const sources = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => planned(name, [name]));
  await writeRecords({ sources, removed: [endpoint('gone', ['x'])] }, all);
  const endpoints = ['shop/a', 'shop/c', 'shop/d', 'shop/e', 'shop/f', '...'];
  expect(all.logger.info.mock.calls).toEqual([[{ written: 6, failed: 1, endpoints }, 'DNSEndpoints written']]);
});

it('is silent if nothing was to be written, and tells what was before it was stopped', async () => {
  const same = writers(() => Promise.resolve());
  await writeRecords({ sources: [planned('a', ['a'], ['a'])], removed: [] }, same);
  expect(same.logger.info).not.toHaveBeenCalled();
  const stop = new AbortController();
  const stopped = writers(
    () => {
      stop.abort();
      return Promise.resolve();
    },
    { written: true },
  );
  const sources = ['a', 'b'].map((name) => planned(name, [name]));
  await expect(writeRecords({ sources, removed: [] }, { ...stopped, signal: stop.signal })).rejects.toThrow();
  expect(stopped.logger.info).toHaveBeenCalledWith(expect.objectContaining({ written: 1 }), expect.anything());
});

it('namespaces take turns, and writes that failed before come last in their namespace', async () => {
  const order: string[] = [];
  const tell = (name: string): Promise<void> => {
    order.push(name);
    return Promise.resolve();
  };
  const many = Array.from({ length: 20 }, (_, n) => planned(`s${n}`, ['a']));
  const sources = [
    planned('same', ['b'], ['b']),
    ...many,
    planned('t0', ['c'], [], 'team'),
    planned('t1', ['d'], [], 'team'),
  ];
  await writeRecords({ sources, removed: [] }, writers(tell), {
    failed: new Set(['shop/s0', 'shop/s1']),
    slow: new Set(),
  });
  expect(order.slice(0, 2)).toEqual(['s2', 't0']);
  expect(order.indexOf('t1')).toBeLessThan(8);
  expect(order.slice(-2)).toEqual(['s0', 's1']);
});

it('begins no write when the time of a round is over, and takes no host away that would then be nowhere', async () => {
  const done: string[] = [];
  const slow = writers(
    (name) => {
      done.push(name);
      return slow.clock.advance(name.startsWith('s') ? ROUND_MS : 1);
    },
    { written: true },
  );
  const sources = [
    ...Array.from({ length: 14 }, (_, n) => planned(`s${n}`, [`h${n}`])),
    planned('loses', ['a'], ['a', 'h13']),
    planned('other', ['b'], ['b', 'c']),
  ];
  const result = await writeRecords({ sources, removed: [] }, slow);
  expect(result).toMatchObject({ written: 2, failures: new Map(), left: 13, slow: new Set() });
  expect(result.unwritten.size).toBe(13);
  expect(done.slice(-1)).toEqual(['other']);
  expect(done).not.toContain('loses');
});

/** Writers whose calls take `ms`, and hang in namespaces that begin with `bad`, until they are cancelled. */
function hanging(clock: FakeClock, isBad = (namespace: string): boolean => namespace.startsWith('bad'), ms = 20) {
  /** When each was written, by name: ms of the clock. */
  const done = new Map<string, number>();
  const applier: RecordWriters['applier'] = {
    isUpToDate: (_, { metadata }) => done.has(metadata?.name ?? ''),
    apply: async (_resource, desired, _live, call) => {
      const { namespace = '', name = '' } = desired.metadata ?? {};
      await clock.sleep(isBad(namespace) ? 30_000 : ms, call?.signal);
      if (isBad(namespace) || call?.signal?.aborted) throw new TransportError('no answer', { failure: 'aborted' });
      done.set(name, clock.monotonic());
      return { written: true, object: desired };
    },
  };
  return { done, writers: { ...writers(() => Promise.resolve()), clock, applier } };
}

/** Writes rounds until `isDone`. @returns the result of the last */
async function rounds(
  sources: PlannedSource[],
  { writers: all, clock }: { writers: RecordWriters; clock: FakeClock },
  isDone: () => boolean,
  before = NOTHING_BEFORE,
): Promise<Written> {
  for (let known = before; ;) {
    let last: Written | undefined;
    const writing = writeRecords({ sources, removed: [] }, all, known).then((result) => (last = result));
    while (last === undefined) {
      // The work itself takes turns of the event loop, more of them on a busy machine. It must not take time of this clock.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(20);
    }
    await writing;
    if (isDone()) return last;
    known = { failed: new Set([...known.failed, ...last.failures.keys()]), slow: last.slow };
  }
}

it('1,000 records are written in two rounds next to ten namespaces whose writes hang', async () => {
  const clock = new FakeClock();
  const { done, writers: all } = hanging(clock);
  const good = Array.from({ length: 1_000 }, (_, n) => planned(`g${n}`, [`g${n}`], [], 'good'));
  const bad = Array.from({ length: 1_000 }, (_, n) => planned(`b${n}`, [`b${n}`], [], `bad${n % 10}`));
  const { slow } = await rounds([...bad, ...good], { writers: all, clock }, () => done.size === 1_000);
  expect(Math.max(...done.values())).toBeLessThan(ROUND_MS + LAST_CALLS_MS + 2_500);
  expect(clock.pending).toBe(0);
  const changed = clock.monotonic();
  const sources = [...bad, planned('new', ['new'], [], 'other')];
  await rounds(sources, { writers: all, clock }, () => done.has('new'), { failed: new Set(), slow });
  expect((done.get('new') ?? Infinity) - changed).toBeLessThan(1_000);
  expect(clock.monotonic() - changed).toBeLessThan(ROUND_MS + LAST_CALLS_MS + 1_000);
});

it('a namespace whose writes hung is tried again in turn, and is as the others once it answers', async () => {
  const clock = new FakeClock();
  let bad = ['bad0', 'bad1', 'bad2', 'bad3', 'bad4'];
  const { done, writers: all } = hanging(clock, (namespace) => bad.includes(namespace));
  const sources = bad.flatMap((namespace) =>
    Array.from({ length: 5 }, (_, n) => planned(`${namespace}-${n}`, [`${namespace}-${n}`], [], namespace)),
  );
  const more = [...sources, planned('g', ['g'], [], 'good')];
  const first = await rounds(more, { writers: all, clock }, () => true);
  expect([...first.slow]).toEqual(bad);
  expect(String(first.failures.get('bad0/bad0-0'))).toContain('no answer within 6 s');
  bad = bad.filter((namespace) => namespace !== 'bad4');
  const before = { failed: new Set<string>(), slow: first.slow };
  const last = await rounds(more, { writers: all, clock }, () => done.has('bad4-0'), before);
  expect(clock.monotonic()).toBeLessThan(3 * (ROUND_MS + LAST_CALLS_MS) + 1_000);
  expect(last.slow.has('bad4')).toBe(false);
});

it('waits for the answers of a slow API server', async () => {
  const clock = new FakeClock();
  const { done, writers: all } = hanging(clock, () => false, 8_000);
  const sources = ['a', 'b'].map((namespace) => planned(namespace, [namespace], [], namespace));
  const last = await rounds(sources, { writers: all, clock }, () => true);
  expect([last.written, last.failures, [...done.keys()]]).toEqual([2, new Map(), ['a', 'b']]);
});
