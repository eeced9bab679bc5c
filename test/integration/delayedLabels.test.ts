import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { V1Node } from '@kubernetes/client-node';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Delayed and kept labels, on a real API server and Prometheus: a second threshold, many passes, minHold, missing data, and a
 * rate window that fills after an outage. A node for each, so that the traffic of one story is none of another.
 */
const WAIT = { timeout: 150_000, interval: 200 };
/** The operator runs none of them while it is down. */
const PASSES = 12;
/** Longer than it takes to see that a node is held, and to restart the operator. */
const HOLD_MS = 30_000;
/** Long enough to see that it fills. */
const FILLING = ['--interval=1s', '--window=15s'];

let f: Fixture;
beforeAll(async () => {
  // The figures are close to thresholds, and a pass without one would begin a count again: a late scrape must not move or remove them.
  f = await startFixture({ nodes: ['recovering', 'silent', 'slow', 'held', 'n1', 'n2'], withTimes: true });
  await f.startOperator();
});
afterAll(() => f.stop());

const labelOf = async (watch: string, node: string): Promise<string | undefined> =>
  (await f.labels(unfitKey(watch)))[node];

async function expectLabel(watch: string, node: string, value: string): Promise<void> {
  await vi.waitFor(async () => expect(await labelOf(watch, node)).toBe(value), WAIT);
}

async function expectNode(watch: string, node: string, expected: object): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch(watch)).status?.nodes?.[node]).toMatchObject(expected), WAIT);
}

describe('recoverBandwidthPercent', () => {
  it('keeps a node unfit until its load is at or below the second threshold', async () => {
    await f.createWatch('web', { maxBandwidthPercent: '60', recoverBandwidthPercent: '40' });
    await expectLabel('web', 'recovering', 'false');
    f.exporter.setPercent('recovering', 80);
    await expectLabel('web', 'recovering', 'true');
    f.exporter.setPercent('recovering', 50);
    await expectNode('web', 'recovering', { verdict: 'Unfit', reason: 'NotRecovered' });
    f.exporter.setPercent('recovering', 20);
    await expectLabel('web', 'recovering', 'false');
  });
});

describe('missingData', () => {
  it('makes a node without series unfit after holdFor, holds its label by default, and ends with the next figure', async () => {
    const unfit = { policy: 'Unfit', holdFor: '5s' } as const;
    await f.createWatch('strict', { maxBandwidthPercent: '60', missingData: unfit });
    for (const watch of ['web', 'strict']) await expectLabel(watch, 'silent', 'false');
    f.exporter.remove('silent');
    const missing = { verdict: 'Unfit', reason: 'NoDataUnfit', currentBandwidthPercent: '' };
    await expectNode('strict', 'silent', missing);
    await expectLabel('strict', 'silent', 'true');
    await expectNode('web', 'silent', { verdict: 'Unknown', unfit: false });
    expect(await labelOf('web', 'silent')).toBe('false');
    await vi.waitFor(async () => {
      const unfit = (await f.events('strict')).filter(({ reason }) => reason === 'NodeUnfit');
      // Scrapes that fail for seconds also make the other nodes unfit.
      const notes = unfit.flatMap(({ note }) => (note?.includes('node silent ') === true ? [note] : []));
      expect(notes).toEqual(['node silent turned unfit: no figure (missingData)']);
    }, WAIT);
    f.exporter.setPercent('silent', 1);
    await expectLabel('strict', 'silent', 'false');
  });
});

describe('passes', () => {
  it('that the operator did not run are read from Prometheus: a restart in mid-sequence loses nothing', async () => {
    await f.createWatch('patient', { maxBandwidthPercent: '60', passes: { unfit: PASSES } });
    await expectLabel('patient', 'slow', 'false');
    await f.stopOperator();
    f.exporter.setPercent('slow', 90);
    // The window of 5 s has to fill, and then a pass a second to agree.
    const begin = performance.now();
    await vi.waitFor(() => expect(performance.now() - begin).toBeGreaterThan((PASSES + 10) * 1000), WAIT);
    const operator = await f.startOperator();
    const passes = async (): Promise<number> => (await metricsOf(operator)).sum('passes_total', { result: 'ok' });
    let run = 0;
    await vi.waitFor(async () => {
      const label = await labelOf('patient', 'slow');
      // Of passes that had certainly ended before the label was written. One that failed tells nothing of the node.
      if (label !== 'true') run = await passes();
      expect(label).toBe('true');
    }, WAIT);
    expect(run).toBeLessThan(PASSES);
    expect(await passes()).toBeGreaterThan(0);
  });
});

describe('minHold', () => {
  /** When the API server last saw the operator change a label of the node. */
  async function changedAt(): Promise<number> {
    const node: V1Node = await f.client.get(NODES, { name: 'held' });
    const entries = node.metadata?.managedFields ?? [];
    const mine = entries.find(({ manager }) => manager === 'traffic-operator-trafficwatch');
    return new Date(mine?.time ?? 0).getTime();
  }

  it('holds the label until its time has passed, also over a restart; labels that another client writes are corrected at once', async () => {
    // No other TrafficWatch labels it.
    for (const watch of ['web', 'strict', 'patient']) await f.deleteWatch(watch);
    const nodeSelector = { matchLabels: { 'kubernetes.io/hostname': 'held' } };
    await f.createWatch('calm', { maxBandwidthPercent: '60', minHold: `${HOLD_MS / 1000}s`, nodeSelector });
    await expectLabel('calm', 'held', 'false');
    const first = await changedAt();
    f.exporter.setPercent('held', 90);
    await expectNode('calm', 'held', { verdict: 'Fit', reason: 'HeldByMinHold' });
    expect(await labelOf('calm', 'held')).toBe('false');
    await f.stopOperator();
    await f.startOperator([], { pace: FILLING });
    await expectLabel('calm', 'held', 'true');
    const own = await changedAt();
    expect(own - first).toBeGreaterThanOrEqual(HOLD_MS);
    await f.setLabels('held', { [unfitKey('calm')]: 'false' });
    await expectLabel('calm', 'held', 'true');
    expect((await changedAt()) - own).toBeLessThan(HOLD_MS);
  });
});

describe('after an outage of a Prometheus that loses its data', () => {
  const WARMING = { verdict: 'Fit', reason: 'WarmingUp', unfit: false };

  it('a label stays while the rate window fills, and follows the figures then', async () => {
    await f.createWatch('warm', { maxBandwidthPercent: '60' });
    for (const node of ['n1', 'n2']) await expectLabel('warm', node, 'false');
    await f.stopPrometheus();
    await expectNode('warm', 'n1', { verdict: 'Unknown' });
    f.exporter.setPercent('n1', 90);
    await f.startPrometheus();
    const isWarming = async () => expect((await f.watch('warm')).status?.nodes?.n1).toMatchObject(WARMING);
    const meanwhile = await vi.waitFor(async () => {
      await isWarming();
      const label = await labelOf('warm', 'n1');
      await isWarming();
      return label;
    }, WAIT);
    expect(meanwhile).toBe('false');
    // A verdict that does not change has its usual reason.
    await expectNode('warm', 'n2', { verdict: 'Fit', reason: 'BelowThreshold' });
    await expectLabel('warm', 'n1', 'true');
  });
});
