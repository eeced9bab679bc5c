import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../../runtime/client/errors.ts';
import type { Informer } from '../../../../runtime/cache/informer.ts';
import { Store } from '../../../../runtime/cache/store.ts';
import { whenAborted } from '../../../../runtime/async/deadline.ts';
import { FakeClock } from '../../../../runtime/process/clock.ts';
import { waitingPodIndexes, WaitingPods, type CachedWaitingPod } from './waitingPods.ts';

const waiting = { name: 'db-0', labels: { app: 'db' }, keys: ['db.traffic.example.com/unfit'], since: 0 };
const POD: CachedWaitingPod = { metadata: { name: 'db-0', namespace: 'shop' }, waiting };

interface Started {
  synced: boolean;
  refusal: ApiError | undefined;
  running: boolean;
  lister: Store<CachedWaitingPod>;
}

let clock: FakeClock;
let started: Started[];
let stop: AbortController;
let pods: WaitingPods;
let running: Promise<void>;

beforeEach(() => {
  clock = new FakeClock(0);
  started = [];
  stop = new AbortController();
  pods = new WaitingPods({ clock, create });
  running = pods.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
});

/** An informer that has the pod once a test says that it is synced. */
function create(): Informer<CachedWaitingPod> {
  const lister = new Store<CachedWaitingPod>(waitingPodIndexes);
  lister.set(POD);
  const state: Started = { synced: false, refusal: undefined, running: true, lister };
  started.push(state);
  const run = async (signal: AbortSignal): Promise<void> => {
    await whenAborted(signal);
    state.running = false;
  };
  return Object.assign(state, { run }) as unknown as Informer<CachedWaitingPod>;
}

async function asked(): Promise<Started> {
  pods.podsIn('shop');
  await vi.waitFor(() => expect(started.filter((each) => each.running)).toHaveLength(1));
  return started.at(-1)!;
}

describe('WaitingPods', () => {
  it('watches nothing before the first question', async () => {
    await clock.advance(600_000);
    expect(started).toEqual([]);
  });

  it('has the pods of a namespace once they are read', async () => {
    const informer = await asked();
    expect(pods.podsIn('shop')).toEqual({});
    informer.synced = true;
    expect(pods.podsIn('shop')).toEqual({ pods: [waiting] });
    expect(pods.podsIn('other')).toEqual({ pods: [] });
    expect(started).toHaveLength(1);
  });

  it('says that pods are missing which take too much memory', async () => {
    const informer = await asked();
    informer.synced = true;
    informer.lister.set({ metadata: { name: 'fat', namespace: 'shop' }, isUnread: true });
    expect(pods.podsIn('shop')).toEqual({ pods: [waiting], isPartial: true });
  });

  it('says why the API server refuses, also if pods were read before', async () => {
    const informer = await asked();
    informer.synced = true;
    const refusal = new ApiError({ status: 403, reason: 'Forbidden', method: 'GET', path: '/api/v1/pods' });
    informer.refusal = refusal;
    expect(pods.podsIn('shop')).toEqual({ refusal: refusal.detail });
  });

  it('stops five minutes after the last question, and starts again at the next', async () => {
    const informer = await asked();
    informer.synced = true;
    await clock.advance(200_000);
    pods.podsIn('shop');
    await clock.advance(299_000);
    expect(informer.running).toBe(true);
    await clock.advance(2_000);
    await vi.waitFor(() => expect(informer.running).toBe(false));
    expect(pods.podsIn('shop')).toEqual({});
    await asked();
    expect(started).toHaveLength(2);
  });

  it('stops with the program', async () => {
    const informer = await asked();
    stop.abort();
    await running;
    expect(informer.running).toBe(false);
  });
});
