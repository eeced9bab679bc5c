import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Operator } from '../harness/operator.ts';
import { audited, writesOf, type AuditedRequest } from '../harness/audit.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { SLACK } from '../harness/slack.ts';
import { grantLeases, grantOperator, revokeLeases } from './rbac.ts';

/**
 * Who writes when replicas of the operator's process lose their lease, are stopped, told to end or killed, by the API
 * server's audit log. A node is added every 250 ms, so that the leader always has something to write.
 */
const NAMESPACE = 'traffic-operator-system';
const LEASE_MS = 15_000;
/**
 * The promises are 20 s and 3 s until the next leader writes, and what it took is printed. A Lease that is not released is taken 12 s after SIGTERM
 * at the earliest.
 */
const KILLED_MS = Math.min(SLACK * 20_000, 60_000);
const TERMINATED_MS = Math.min(SLACK * 3_000, 10_000);

/** A replica with a user of its own, by which the audit log knows it. */
interface Replica {
  readonly kind: 'User';
  readonly name: string;
  readonly operator: Operator;
}

let f: Fixture;
let first: Replica;
let second: Replica;
const replicas: Replica[] = [];
let isAdding = true;
let isPaused = false;
let adding: Promise<void>;

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  adding = addNodes();
  first = await startReplica('first');
  await until('the first labels nodes', () => labels(first).length > 0);
  second = await startReplica('second');
});
beforeEach(({ onTestFailed }) => {
  onTestFailed(() => {
    for (const { name, operator } of replicas) console.log(`${name}:\n${operator.log().slice(-4_000)}`);
  });
});
afterAll(async () => {
  isAdding = false;
  isPaused = false;
  await adding;
  await Promise.all(replicas.map(({ operator }) => operator.kill()));
  await f.stop();
});

async function addNodes(): Promise<void> {
  for (let count = 0; isAdding; count += 1) {
    while (isPaused) await sleep(50);
    f.exporter.setPercent(`added-${count}`, 1);
    await f.addNode(`added-${count}`);
    await sleep(250);
  }
}

async function startReplica(name: string): Promise<Replica> {
  await grantOperator(f.client, { kind: 'User', name });
  const kubeconfig = await f.controlPlane.user(name);
  const operator = await f.startOperator(['--leader-elect'], { kubeconfig });
  const replica: Replica = { kind: 'User', name, operator };
  replicas.push(replica);
  return replica;
}

/** The writes that it tried, whatever the answer. */
const tries = ({ name }: Replica): AuditedRequest[] => writesOf(f.controlPlane, name);
const labels = (replica: Replica): AuditedRequest[] =>
  tries(replica).filter(({ resource, code }) => resource === 'nodes' && code === 200);
const lastTry = (replica: Replica): number => tries(replica).at(-1)?.at ?? 0;

/** When a replica first labelled a node after a moment; both wall clock milliseconds. */
async function firstLabelAfter(moment: number, replica: Replica): Promise<number> {
  const found = (): number | undefined => labels(replica).find(({ at }) => at > moment)?.at;
  await until(`${replica.name} labels a node`, () => found() !== undefined);
  return found()!;
}

/** When the last renewal of a replica that was not refused arrived. */
function renewedAt({ name }: Replica): number {
  const isRenewal = ({ user, verb, resource, code }: AuditedRequest): boolean =>
    user === name && verb === 'update' && resource === 'leases' && code === 200;
  return audited(f.controlPlane).findLast(isRenewal)!.at;
}

const signal = ({ operator }: Replica, name: NodeJS.Signals): boolean => process.kill(operator.pid, name);

/**
 * Stops it while it writes nothing. A write that has passed the check of the lease and is not yet in the kernel at SIGSTOP
 * arrives after SIGCONT, as with every lease without fencing; one stop in some hundred meets such a write.
 */
async function stopWhenQuiet(replica: Replica): Promise<number> {
  isPaused = true;
  await until(`${replica.name} writes nothing for 1 s`, () => Date.now() - lastTry(replica) > 1_000);
  const stopped = Date.now();
  signal(replica, 'SIGSTOP');
  isPaused = false;
  return stopped;
}

describe('a leader', () => {
  it('that cannot renew its lease in mid pass ends writing before another may have it', async () => {
    await sleep(2_000);
    expect(tries(second)).toEqual([]);
    const revoked = Date.now();
    await revokeLeases(f.client, first);
    const taken = await firstLabelAfter(revoked, second);
    // Long enough to see the writes of one that has not noticed.
    await firstLabelAfter(taken + 5_000, second);

    const last = lastTry(first);
    const renewed = renewedAt(first);
    measured(`a leader that cannot renew writes last ${seconds(last - renewed)} after its last renewal`);
    measured(`the next leader labels ${seconds(taken - renewed)} after that renewal`);
    expect(last - renewed, 'ms from the last renewal to the last write').toBeGreaterThan(4_000);
    expect(last - renewed, 'ms from the last renewal to the last write').toBeLessThan(LEASE_MS);
    expect(taken - renewed, "ms from the last renewal to the next leader's first write").toBeGreaterThan(LEASE_MS);
    await grantLeases(f.client, first);
  });

  it('that was stopped for 60 s writes nothing after it wakes', async () => {
    const stopped = await stopWhenQuiet(second);
    const taken = await firstLabelAfter(stopped, first);
    measured(`the next leader labels ${seconds(taken - stopped)} after the leader's SIGSTOP`);
    await sleep(60_000 - (Date.now() - stopped));
    const woken = Date.now();
    signal(second, 'SIGCONT');
    await until('it knows', () => second.operator.log().includes('stopped leading'));
    await firstLabelAfter(woken + 5_000, first);
    expect(tries(second).filter(({ at }) => at > stopped + LEASE_MS)).toEqual([]);
    measured(`a leader that woke after ${seconds(woken - stopped)} made 0 writes as leader`);
  });

  it('that gets SIGTERM is followed within 3 s', async () => {
    const told = Date.now();
    signal(first, 'SIGTERM');
    const taken = await firstLabelAfter(told, second);
    measured(`the next leader labels ${seconds(taken - told)} after the leader's SIGTERM`);
    expect(taken - told).toBeLessThan(TERMINATED_MS);
    expect(lastTry(first)).toBeLessThan(taken);
  });

  it('that is killed is followed within 20 s', async () => {
    const third = await startReplica('third');
    const killed = Date.now();
    signal(second, 'SIGKILL');
    const taken = await firstLabelAfter(killed, third);
    measured(`the next leader labels ${seconds(taken - killed)} after the leader's SIGKILL`);
    expect(taken - killed).toBeLessThan(KILLED_MS);
  });
});
