import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { V1Node } from '@kubernetes/client-node';
import type { InformerEvent } from '../../src/runtime/cache/informer.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { measured } from '../harness/measured.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { connect, type Connected } from '../harness/runtimeScene.ts';

/** Another client sets another value for a label of the operator, on a real API server. A pass takes a second. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
const RIGHT = 'false';
const WRONG = 'true';

let f: Fixture;
let connected: Connected;
let stopRival: () => Promise<void>;
/** True while the rival changes the label back at once. */
let isFighting = false;
/** How often the operator corrected the label of n1. */
let corrections = 0;
/** The label of n1 after each write to the node; undefined if it was absent. */
const writes: (string | undefined)[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  connected = connect(f.controlPlane);
  await f.startOperator();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: RIGHT, n2: RIGHT }), WAIT);
  stopRival = await follow(f.controlPlane, NODES, rival);
});
afterAll(async () => {
  await stopRival();
  await connected.transport.close();
  await f.stop();
});

function rival(event: InformerEvent<V1Node>): void {
  const value = event.object.metadata?.labels?.[KEY];
  const before = event.type === 'update' ? event.old?.metadata?.labels?.[KEY] : undefined;
  if (event.object.metadata?.name !== 'n1' || event.type === 'delete') return;
  if (event.type === 'update' && value === RIGHT && before !== RIGHT) corrections++;
  if (event.type === 'update') writes.push(value);
  if (isFighting && value !== WRONG) void spoil();
}

const spoil = (value: string | null = WRONG): Promise<unknown> =>
  connected.client.mergePatch(
    NODES,
    { name: 'n1' },
    { metadata: { labels: { [KEY]: value } } },
    { fieldManager: 'rival' },
  );

async function reconciling() {
  return (await f.watch('web')).status?.conditions?.find((c) => c.type === 'Reconciling');
}

async function passes(): Promise<number> {
  const text = await (await fetch(f.operator().metricsUrl)).text();
  const counts = text.split('\n').filter((line) => line.startsWith('traffic_operator_passes_total{'));
  return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function afterPasses(count: number): Promise<void> {
  const until = (await passes()) + count;
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(until), WAIT);
}

describe('another manager that changes our label', () => {
  it.each([
    { what: 'edits', spoilt: WRONG },
    { what: 'takes away', spoilt: null },
  ])('$what it once has it put right once, at the next pass', async ({ spoilt }) => {
    writes.length = 0;
    await spoil(spoilt);
    const begin = await passes();
    /** Counts only passes that had certainly ended by then. */
    let took = 0;
    await vi.waitFor(
      async () => {
        const now = await passes();
        const { n1 } = await f.labels(KEY);
        if (n1 !== RIGHT) took = now - begin;
        expect(n1).toBe(RIGHT);
      },
      { ...WAIT, interval: 10 },
    );
    measured(`label ${spoilt ?? 'taken away'}: put right before ${took + 1} passes had gone by`);
    // The running one, and the next.
    expect(took).toBeLessThanOrEqual(2);
    await afterPasses(3);
    // The watch may be behind.
    await vi.waitFor(() => expect(writes).toEqual([spoilt ?? undefined, RIGHT]), WAIT);
    expect(await f.labels(KEY)).toEqual({ n1: RIGHT, n2: RIGHT });
    await vi.waitFor(async () => expect(await reconciling()).toMatchObject({ status: 'False' }), WAIT);
  });

  it('again and again causes a condition and one event, and no write loop', async () => {
    const before = { corrections, passes: await passes() };
    isFighting = true;
    await spoil();
    await vi.waitFor(async () => {
      expect(await reconciling()).toMatchObject({ status: 'True', reason: 'LabelContested' });
    }, WAIT);
    expect((await reconciling())?.message).toContain(`label ${KEY} of node n1 (by field manager "rival")`);
    expect(corrections - before.corrections).toBeLessThanOrEqual((await passes()) - before.passes + 1);
    const contested = { corrections, passes: await passes() };
    await afterPasses(10);
    const took = { corrections: corrections - contested.corrections, passes: (await passes()) - contested.passes };
    measured(`${took.corrections} corrections in ${took.passes} passes, once the fight is known`);
    // After 2, 4 and 8 passes: at most three in the first 14.
    expect(took.corrections).toBeLessThan(took.passes / 2);
    await vi.waitFor(async () => {
      const told = (await f.events('web')).filter((event) => event.reason === 'LabelContested');
      expect(told.map(({ type, series }) => [type, series?.count ?? 1])).toEqual([['Warning', 1]]);
      expect(told[0]?.note).toContain(`label ${KEY} of node n1 (by field manager "rival")`);
    }, WAIT);
    expect((await f.labels(KEY)).n2).toBe(RIGHT);
  });

  it('and then stops: the label is corrected, and the condition clears', async () => {
    isFighting = false;
    await vi.waitFor(async () => expect((await f.labels(KEY)).n1).toBe(RIGHT), WAIT);
    await vi.waitFor(async () => expect(await reconciling()).toMatchObject({ status: 'False' }), WAIT);
    expect(await f.labels(KEY)).toEqual({ n1: RIGHT, n2: RIGHT });
  });
});
