import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { startPrometheus, type RunningPrometheus } from '../harness/prometheus.ts';
import { startSyntheticExporter, type SyntheticExporter } from '../harness/syntheticExporter.ts';
import { measured, sleep } from '../harness/measured.ts';

/**
 * A Prometheus that stands still for a while, shorter and longer than the rate window, and then has a gap in what it
 * knows. Each node has an exporter of its own, scraped at another moment.
 */
const NODES = ['n1', 'n2', 'n3', 'n4'];
const WAIT = { timeout: 120_000, interval: 200 };
const SCRAPE_SECONDS = 3;
const PACE = ['--interval=4s', '--window=12s'];
const OUTAGES_SECONDS = [10, 11, 14, 30];
/** After each outage: long enough for the window to be full again, and for counts outside of the passes. */
const REST_MS = 20_000;
/** On a busy machine scrapes may be late, which is another gap: then the outage is repeated, this often at most. */
const REPETITIONS = 2;

let f: Fixture;
let prometheus: RunningPrometheus;
let exporters: SyntheticExporter[];
let stopFollowing: () => Promise<void>;
/** The states of MetricsAvailable, each once: "status reason". */
const told: string[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  exporters = await Promise.all(NODES.map(() => startSyntheticExporter()));
  exporters.forEach((exporter, n) => exporter.setPercent(NODES[n]!, 1));
  const config = {
    global: { scrape_interval: `${SCRAPE_SECONDS}s`, scrape_timeout: `${SCRAPE_SECONDS}s` },
    scrape_configs: [{ job_name: 'nodes', static_configs: exporters.map(({ target }) => ({ targets: [target] })) }],
  };
  prometheus = await startPrometheus({ config });
  stopFollowing = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { status } }) => {
    const condition = status?.conditions?.find(({ type }) => type === 'MetricsAvailable');
    const said = `${condition?.status ?? ''} ${condition?.reason ?? ''}`;
    if (said !== told.at(-1)) told.push(said);
  });
  await f.startOperator(PACE, { prometheusUrl: prometheus.url });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await isAvailable();
  await sleep(REST_MS);
});
afterAll(async () => {
  await stopFollowing();
  await prometheus.stop();
  await Promise.all(exporters.map((exporter) => exporter.stop()));
  await f.stop();
});

async function isAvailable(): Promise<void> {
  await vi.waitFor(() => expect(told.at(-1)).toBe('True AllMeasured'), WAIT);
}

interface Sample {
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

/** Whether each exporter was scraped every 3 s, and answered within a second, since a time of performance.now(). */
async function scrapedOnTime(since: number): Promise<boolean> {
  const seconds = Math.ceil((performance.now() - since) / 1000);
  const answer = await fetch(`${prometheus.url}/api/v1/query?query=scrape_duration_seconds[${seconds}s]`);
  const { data } = (await answer.json()) as { data: { result: Sample[] } };
  const isOnTime = ({ values }: Sample): boolean =>
    values.every(([at, took], n) => at - (values[n - 1]?.[0] ?? at) < 1.5 * SCRAPE_SECONDS && Number(took) < 1);
  return data.result.length === NODES.length && data.result.every(isOnTime);
}

/** The states of MetricsAvailable from the beginning of an outage on, and whether scrapes were on time after it. */
async function outage(seconds: number): Promise<{ after: readonly string[]; isOnTime: boolean }> {
  told.splice(0, told.length, 'True AllMeasured');
  process.kill(prometheus.pid, 'SIGSTOP');
  await sleep(seconds * 1000);
  // The passes of a busy machine may come to it later: an outage that none has met would prove nothing.
  await vi.waitFor(() => expect(told.at(-1)).toMatch(/^False /), WAIT);
  process.kill(prometheus.pid, 'SIGCONT');
  const back = performance.now();
  await isAvailable();
  await sleep(REST_MS);
  const after = told.slice(1);
  const isOnTime = await scrapedOnTime(back);
  measured(`outage of ${seconds} s: ${after.join(', ')}${isOnTime ? '' : '; scrapes were late'}`);
  return { after, isOnTime };
}

const isOneOutage = (after: readonly string[]): boolean =>
  after.filter((said) => said.startsWith('True')).length === 1 && !after.includes('False WindowTooShort');

it.each(OUTAGES_SECONDS)('an outage of %i s makes MetricsAvailable False once, and True once', async (seconds) => {
  const versions = await f.nodeVersions();
  let { after, isOnTime } = await outage(seconds);
  for (let n = 0; n < REPETITIONS && !isOneOutage(after) && !isOnTime; n += 1) {
    await isAvailable();
    ({ after, isOnTime } = await outage(seconds));
  }
  expect(after.filter((said) => said.startsWith('True'))).toEqual(['True AllMeasured']);
  expect(after).not.toContain('False WindowTooShort');
  expect(await f.nodeVersions()).toEqual(versions);
});
