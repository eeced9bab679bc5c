import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import type { Mode } from '../../src/api/trafficwatch/spec/mode.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { DEPLOYMENTS, NODES } from '../../src/runtime/client/resources.ts';
import { expectApplied } from '../harness/applied.ts';
import { audited } from '../harness/audit.ts';
import { follow } from '../harness/follow.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { measured } from '../harness/measured.ts';
import { aStatefulSet, STATEFULSETS } from './injection/world.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * The writes of the operator while every TrafficWatch that has something to decide is of mode Observe: by the audit log of
 * a real API server, over many passes of one second. OBSERVE_MINUTES makes it last longer than a round takes.
 */
const WAIT = { timeout: 90_000, interval: 200 };
const OPERATOR = 'operator-under-test';
const MINUTES = Number(process.env.OBSERVE_MINUTES ?? '0');
/** A round, in which the nodes and the traffic come and go. After it n4 is gone. */
const CHANGES_OF_ROUND = 4;
const SHARED_KEY = unfitKey('shared');
/** Nodes that stay, of which n3 carries the label of `owner`. */
const STAYING = ['n1', 'n2', 'n3'];
const COMES_AND_GOES = 'n4';

let f: Fixture;
/** TrafficWatches whose verdicts the breaker and minHold hold. */
const DECIDING = ['careful', 'steady'];
/** The reasons of their verdicts. */
const reasonsSeen = new Set<string>();

/** Labels n3 under the key that two dry runs name too. Another user does it, before the operator under test starts. */
async function labelByOwner(): Promise<void> {
  await f.setLabels('n3', { pool: 'owner' });
  await f.createWatch('owner', {
    maxBandwidthPercent: '60',
    label: 'shared',
    nodeSelector: { matchLabels: { pool: 'owner' } },
  });
  await f.startOperator();
  await vi.waitFor(async () => {
    expect(await f.labels(SHARED_KEY)).toEqual({ n3: 'false' });
    expect((await f.watch('owner')).status?.ready).toBe(true);
  }, WAIT);
  await f.stopOperator();
}

beforeAll(async () => {
  f = await startFixture({ nodes: STAYING });
  f.exporter.setPercent('n3', 30);
  const observe = { maxBandwidthPercent: '10', mode: 'Observe' } as const;
  await f.client.create(STATEFULSETS, aStatefulSet('db', 0));
  await f.createWatch('plain', { ...observe, maxBandwidthPercent: '40' });
  await f.createWatch('careful', {
    ...observe,
    recoverBandwidthPercent: '8',
    maxUnfit: 1,
    breakerCooldown: '5s',
    missingData: { policy: 'Unfit', holdFor: '5s' },
  });
  // Longer than the time between two changes of traffic on a busy machine.
  await f.createWatch('steady', { ...observe, maxBandwidthPercent: '40', minHold: '45s' });
  const targetRef = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
  await f.createWatch('target', { ...observe, placement: 'Required', targetRef });
  // The one that is older than the owner of the label would label n3 "true"; the younger one is stalled.
  await f.createWatch('older', { ...observe, label: 'shared' });
  await olderThanNow('older');
  await labelByOwner();
  await f.createWatch('younger', { ...observe, label: 'shared' });
  await f.startOperator([], { kubeconfig: await f.controlPlane.user(OPERATOR, ['system:masters']) });
});
afterAll(() => f.stop());

/** Creation times have whole seconds. */
async function olderThanNow(name: string): Promise<void> {
  const { metadata } = await f.watch(name);
  const created = new Date(metadata?.creationTimestamp ?? 0).getTime();
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThanOrEqual(created + 1_000), WAIT);
}

async function statusOf(name: string): Promise<NonNullable<TrafficWatch['status']>> {
  return (await f.watch(name)).status!;
}

/** The requests of the user to the API server, each with its count: 'patch trafficwatches/status'. */
function requests(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { user, verb, resource } of audited(f.controlPlane)) {
    if (user !== OPERATOR || resource === '') continue;
    const request = `${verb} ${resource}`;
    counts[request] = (counts[request] ?? 0) + 1;
  }
  return counts;
}

/** Turns the traffic of n1 on or off, and every second time n4 joins, which is full, or leaves. */
async function change(turn: number): Promise<void> {
  const isOn = turn % 2 === 0;
  const joins = turn % 4 === 0;
  f.exporter.setPercent('n1', isOn ? 60 : 1);
  if (joins) {
    f.exporter.setPercent(COMES_AND_GOES, 70);
    await f.addNode(COMES_AND_GOES);
  } else if (isOn) {
    await f.removeNode(COMES_AND_GOES);
    f.exporter.remove(COMES_AND_GOES);
  }
  const hasJoined = turn % 4 < 2;
  const unfitNodes = (isOn ? 1 : 0) + (hasJoined ? 1 : 0);
  await vi.waitFor(async () => {
    expect(await statusOf('plain')).toMatchObject({
      ready: true,
      unfitNodes,
      plan: { nodesToLabel: hasJoined ? 4 : 3, deployment: 'Create' },
    });
  }, WAIT);
}

describe('the audit log while traffic and nodes come and go', () => {
  it(
    'has nothing but status and events that the operator wrote',
    async () => {
      const before = await f.client.list(NODES);
      // A verdict may be held for one pass only.
      const unfollow = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object }) => {
        if (!DECIDING.includes(object.metadata?.name ?? '')) return;
        for (const { reason } of Object.values(object.status?.nodes ?? {})) reasonsSeen.add(reason);
      });
      onTestFinished(unfollow);
      const end = performance.now() + MINUTES * 60_000;
      let turn = 0;
      do await change(turn++);
      while (turn % CHANGES_OF_ROUND !== 0 || performance.now() < end);

      // They have decided all the same.
      expect([...reasonsSeen]).toEqual(expect.arrayContaining(['HeldByMinHold', 'HeldByBreaker']));
      // A scrape may be late, and n3 without a verdict for a moment.
      await vi.waitFor(async () => {
        expect(await statusOf('older')).toMatchObject({ mode: 'Observe', nodes: { n3: { verdict: 'Unfit' } } });
        expect(await statusOf('target')).toMatchObject({ mode: 'Observe', ready: true });
      }, WAIT);
      const { conditions } = await statusOf('younger');
      expect(conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({ reason: 'LabelKeyTaken' });

      const counts = requests();
      measured(`${turn} changes of traffic with mode Observe, requests by the operator: ${JSON.stringify(counts)}`);
      const writes = Object.keys(counts).filter((request) => !/^(get|list|watch) /.test(request));
      // An event that happens again is patched, which is chance.
      expect(writes.filter((write) => write !== 'patch events').sort()).toEqual([
        'create events',
        'patch trafficwatches/status',
      ]);
      const stayed = (await f.client.list(NODES)).filter(({ metadata }) => STAYING.includes(metadata?.name ?? ''));
      expect(stayed).toEqual(before);
    },
    600_000 + MINUTES * 60_000,
  );
});

describe('a TrafficWatch that leaves the mode Observe', () => {
  const KEY = unfitKey('plain');
  /** A label of the same form that a person wrote. */
  const OF_PERSON = 'person.traffic.example.com/unfit';
  const LABELS = { n1: 'false', n2: 'false', n3: 'false' };
  const setMode = (mode: Mode): Promise<unknown> => f.patchWatch('plain', { spec: { mode } });

  /** Every node without this label, its version and its field managers. */
  async function nodesWithout(key: string): Promise<unknown[]> {
    return (await f.client.list(NODES)).map(({ metadata, spec }) => {
      const labels = Object.entries(metadata?.labels ?? {}).filter(([each]) => each !== key);
      return { name: metadata?.name, labels: Object.fromEntries(labels), annotations: metadata?.annotations, spec };
    });
  }

  it('has nodes labelled and a Deployment, and no longer a plan', async () => {
    expect((await f.watch('plain')).metadata).not.toHaveProperty('finalizers');
    await setMode('Enforce');
    await vi.waitFor(async () => {
      expect(await f.labels(KEY)).toEqual(LABELS);
      expectApplied(await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'plain' }));
      expect(await statusOf('plain')).toMatchObject({ mode: 'Enforce', labelKey: KEY });
      expect((await f.watch('plain')).metadata?.finalizers).toHaveLength(1);
    }, WAIT);
    expect(await statusOf('plain')).not.toHaveProperty('plan');
  });

  it('loses its labels and its finalizer once the mode is Observe again, and nothing else is written', async () => {
    await f.setLabels('n1', { pool: 'a', [OF_PERSON]: 'true' });
    const { metadata } = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'plain' });
    const before = await nodesWithout(KEY);
    // The API server may log an earlier write later.
    const since = Date.now();
    await setMode('Observe');
    await vi.waitFor(async () => {
      expect(await f.labels(KEY)).toEqual({});
      expect((await f.watch('plain')).metadata).not.toHaveProperty('finalizers');
      const plan = { nodesToLabel: 3, deployment: 'Apply' };
      expect(await statusOf('plain')).toMatchObject({ mode: 'Observe', ready: true, plan });
    }, WAIT);
    const deployment = await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'plain' });
    expect(deployment.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    expect(await nodesWithout(KEY)).toEqual(before);
    // The API server logs a write after its answer.
    await vi.waitFor(() => {
      const writes = audited(f.controlPlane).filter(
        ({ at, user, verb }) => at >= since && user === OPERATOR && verb === 'patch',
      );
      const others = writes.filter(({ resource }) => !/^(events|leases|.*\/status)$/.test(resource));
      // Of each node once, then the finalizer.
      expect(others.map(({ resource, name }) => `${resource} ${name}`).sort()).toEqual([
        'nodes n1',
        'nodes n2',
        'nodes n3',
        'trafficwatches plain',
      ]);
    }, WAIT);
  });

  it('can be deleted', async () => {
    await f.deleteWatch('plain');
    await vi.waitFor(() => expect(f.watch('plain')).rejects.toSatisfy(isNotFound), WAIT);
  });
});
