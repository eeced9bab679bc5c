import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { measured } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** A full node whose samples stop without staleness markers, as with remote write, through the whole operator. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = unfitKey('web');
/** Ten scrapes: samples count until they are 7.5 s old. */
const PACE = ['--interval=1s', '--window=10s'];
const STALE_AFTER_SECONDS = 7.5;
/** The node sends at 95 %. With a rate over the whole window, the percent would fall to a fourth of that. */
const LEAST_PERCENT = 85;
/** Passes after the samples are too old: by then whatever follows from that has followed. */
const LATER_PASSES = 3;

let f: Fixture;
beforeAll(async () => {
  // Samples with times: Prometheus writes no staleness markers for their series.
  f = await startFixture({ nodes: ['hot', 'idle'], withTimes: true });
  f.exporter.setPercent('hot', 95);
  await f.startOperator([], { pace: PACE });
  await f.createWatch('web', { maxBandwidthPercent: '60' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ hot: 'true', idle: 'false' }), WAIT);
  // The status follows the labels: until then it tells of the first pass.
  await vi.waitFor(async () => expect((await f.watch('web')).status?.nodes?.hot?.verdict).toBe('Unfit'), WAIT);
});
afterAll(() => f.stop());

/** Each label, percent and problem of the node `hot` from now on, also short ones. The function ends the watches. */
async function followHot() {
  const seen = { labels: new Set<string | undefined>(), percents: [] as string[], problems: new Map<string, string>() };
  const ends = await Promise.all([
    follow(f.controlPlane, NODES, ({ object: { metadata } }) => {
      if (metadata?.name === 'hot') seen.labels.add(metadata.labels?.[KEY]);
    }),
    follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { status } }) => {
      const { currentBandwidthPercent: percent = '', reason = '', verdict, message = '' } = status?.nodes?.hot ?? {};
      if (percent !== '') seen.percents.push(percent);
      if (verdict === 'Unknown') seen.problems.set(reason, message);
    }),
  ]);
  const end = async (): Promise<void> => {
    for (const each of ends) await each();
  };
  return { seen, end };
}

const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total', { result: 'ok' });

it('keeps its label and its percent, until it has none because its newest sample is too old', async () => {
  const { seen, end } = await followHot();
  f.exporter.remove('hot');
  const stopped = Date.now() / 1000;
  await vi.waitFor(() => expect([...seen.problems.keys()]).toContain('StaleSamples'), WAIT);
  const later = (await passes()) + LATER_PASSES;
  await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(later), WAIT);
  await end();
  expect([...seen.labels]).toEqual(['true']);
  expect(seen.percents.filter((percent) => Number(percent) < LEAST_PERCENT)).toEqual([]);
  expect([...seen.problems.keys()]).toEqual(['StaleSamples']);
  const [, time = ''] = /it is of (\S+Z)$/.exec(seen.problems.get('StaleSamples') ?? '') ?? [];
  const age = stopped - Date.parse(time) / 1000;
  // The last scrape, and a time without fractions.
  expect(age).toBeGreaterThan(-1);
  expect(age).toBeLessThan(STALE_AFTER_SECONDS);
  measured(
    `a full node whose samples stop: ${seen.percents.length} percents from ${seen.percents[0]}, then StaleSamples`,
  );
});
