import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createInformer } from '../../src/runtime/cache/informer.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { CONFIG_MAPS, LEASES } from '../../src/runtime/client/resources.ts';
import { startControlPlane, type ControlPlane } from '../harness/controlPlane.ts';
import { start, type RunningProcess } from '../harness/process.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';
import { measured } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';

const SCRIPT = fileURLToPath(new URL('electorProcess.ts', import.meta.url));
const LOCK = { namespace: 'default', name: 'lock' };
const LEASE_MS = 15_000;

/** A process that takes part in the election. */
interface Elector {
  readonly identity: string;
  readonly process: RunningProcess;
  /** When an event first happened, wall clock milliseconds; undefined if it has not. */
  first(event: 'synced' | 'leading' | 'stopped' | 'ended'): number | undefined;
  /** Whether a write is running. */
  readonly isWriting: () => boolean;
}

let plane: ControlPlane;
let connected: Connected;
/** The writer of the ConfigMap, and when the watch reported it. */
let writes: { writer: string; at: number }[];
let electors: Elector[];
let count = 0;
const stopWatching = new AbortController();
let watching: Promise<void>;

beforeAll(async () => {
  plane = await startControlPlane();
  connected = connect(plane);
  const informer = createInformer<V1ConfigMap>({
    transport: connected.transport,
    resource: CONFIG_MAPS,
    namespace: 'default',
    logger: createLogger('silent'),
  });
  informer.subscribe(({ type, object }) => {
    if (type !== 'delete' && object.metadata?.name === 'written') {
      writes.push({ writer: object.data!.writer!, at: Date.now() });
    }
  });
  watching = informer.run(stopWatching.signal);
  await informer.whenSynced();
});

afterAll(async () => {
  stopWatching.abort();
  await watching;
  await connected.transport.close();
  await plane.stop();
});

beforeEach(({ onTestFailed }) => {
  writes = [];
  electors = [];
  onTestFailed(() => {
    for (const { identity } of electors) console.log(readFileSync(join(plane.directory, `${identity}.log`), 'utf8'));
  });
});

afterEach(async () => {
  await Promise.all(electors.map(({ process }) => process.stop()));
  await connected.client.delete(LEASES, LOCK);
});

async function startElector(): Promise<Elector> {
  const identity = `elector-${++count}`;
  const journal = join(plane.directory, `${identity}.journal`);
  writeFileSync(journal, '');
  const args = [SCRIPT, plane.kubeconfig, identity, journal];
  const running = start(process.execPath, args, join(plane.directory, `${identity}.log`));
  const times = (event: string): number[] =>
    readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { at: number; event: string })
      .filter((entry) => entry.event === event)
      .map(({ at }) => at);
  const elector: Elector = {
    identity,
    process: running,
    first: (event) => times(event)[0],
    isWriting: () => times('write').length > times('written').length,
  };
  electors.push(elector);
  await until('the lease is watched', () => elector.first('synced'));
  return elector;
}

/** A leader that writes, and a standby that is ready. */
async function startPair(): Promise<[Elector, Elector]> {
  const leader = await startElector();
  await until('the leader writes', () => lastWriteOf(leader));
  return [leader, await startElector()];
}

/**
 * Stops a process while it has no write in progress: bytes that the kernel already has would still arrive.
 */
async function stopBetweenWrites({ process: { pid }, isWriting }: Elector): Promise<void> {
  const stands = (): boolean => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T ');
  for (;;) {
    process.kill(pid, 'SIGSTOP');
    await until('it stands still', () => stands() || undefined);
    if (!isWriting()) return;
    process.kill(pid, 'SIGCONT');
    await until('it has written', () => !isWriting() || undefined);
  }
}

function until<T>(what: string, condition: () => T | undefined, timeout = 90_000): Promise<T> {
  return vi.waitFor(
    () => {
      const value = condition();
      if (value === undefined) throw new Error(`waited ${timeout} ms until ${what}`);
      return value;
    },
    { timeout, interval: 20 },
  );
}

function lastWriteOf({ identity }: Elector): number | undefined {
  return writes.findLast(({ writer }) => writer === identity)?.at;
}

function firstWriteOf({ identity }: Elector): number | undefined {
  return writes.find(({ writer }) => writer === identity)?.at;
}

describe('leader election on a real API server', () => {
  it('hands over within 3 s when the leader gets SIGTERM', async () => {
    const [leader, standby] = await startPair();
    const told = Date.now();
    process.kill(leader.process.pid, 'SIGTERM');
    const taken = await until('the standby writes', () => firstWriteOf(standby));
    measured(`the standby wrote ${taken - told} ms after the leader's SIGTERM`);
    expect(taken - told).toBeLessThan(SLACK * 3_000);
    await leader.process.ended;
    expect(leader.first('ended')).toBeDefined();
    expect(leader.first('stopped')).toBeLessThanOrEqual(standby.first('leading')!);
    const lease = await connected.client.get(LEASES, LOCK);
    expect(lease.spec).toMatchObject({ holderIdentity: standby.identity, leaseTransitions: 1 });
  });

  it('leaves an empty lease behind when the only one stops', async () => {
    const leader = await startElector();
    await until('it leads', () => leader.first('leading'));
    process.kill(leader.process.pid, 'SIGTERM');
    await leader.process.ended;
    const lease = await connected.client.get(LEASES, LOCK);
    expect(lease.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  });

  it('takes over within 20 s of the leader’s SIGKILL, and no sooner than its lease is over', async () => {
    const [leader, standby] = await startPair();
    const killed = Date.now();
    await leader.process.stop();
    const renewed = Date.parse(String((await connected.client.get(LEASES, LOCK)).spec?.renewTime));
    const taken = await until('the standby writes', () => firstWriteOf(standby));
    measured(`the standby wrote ${taken - killed} ms after the leader's SIGKILL`);
    expect(taken - killed).toBeLessThan(LEASE_MS + SLACK * 5_000);
    expect(taken - renewed).toBeGreaterThanOrEqual(LEASE_MS);
    const afterwards = writes.slice(writes.findIndex(({ writer }) => writer === standby.identity));
    expect(afterwards.every(({ writer }) => writer === standby.identity)).toBe(true);
  });

  it('a leader that was stopped and goes on writes nothing, stands by, and may lead again', async () => {
    const [leader, standby] = await startPair();
    await stopBetweenWrites(leader);
    await until('the standby writes', () => firstWriteOf(standby));
    const woken = Date.now();
    process.kill(leader.process.pid, 'SIGCONT');
    await until('the old leader knows', () => leader.first('stopped'));
    // The new leader keeps writing; the other process must write nothing meanwhile.
    await until('the new one has written on', () => (lastWriteOf(standby)! > woken + 3_000 ? true : undefined));
    expect(lastWriteOf(leader)).toBeLessThan(firstWriteOf(standby)!);
    process.kill(standby.process.pid, 'SIGTERM');
    const told = Date.now();
    const again = await until('the old one leads again', () =>
      lastWriteOf(leader)! > told ? lastWriteOf(leader) : undefined,
    );
    measured(`the old leader wrote again ${again - told} ms after the other one's SIGTERM`);
    expect(again - told).toBeLessThan(SLACK * 3_000);
  });
});
