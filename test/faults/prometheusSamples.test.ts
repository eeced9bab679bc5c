import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { startPrometheus, type RunningPrometheus } from '../harness/prometheus.ts';
import { deviceLines, histogram, startTextExporter, type TextExporter } from '../harness/usageExporters.ts';
import { measured } from '../harness/measured.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Samples that are no numbers, or not one for each device, and counters that begin again: through the whole operator. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = unfitKey('web');
const LABELS = { idle: 'false', hot: 'true' };
const SPEED = 125e6;
/** Longer than the rate window and two passes: by then whatever follows from a change has followed. */
const LONG_AFTER_SECONDS = 8;

/** A node's device, sending at 1 % unless told. */
function nic(node: string, s: number, facts: Record<string, number | string> = {}, device = 'eth0'): string {
  const total = 1e9 + Math.trunc(s * SPEED * 0.01);
  return deviceLines({ node, device }, { total, speed: SPEED, flags: 4163, ...facts });
}

const sending = (s: number, percent: number): number => Math.trunc((s * SPEED * percent) / 100);

/** The text of each node whose samples are odd, and the reason that it must get. */
const ODD: Record<string, [reason: string, text: (s: number) => string]> = {
  nan: ['InvalidSample', (s) => nic('nan', s, { total: 'NaN' })],
  infinite: ['InvalidSample', (s) => nic('infinite', s, { total: '+Inf' })],
  down: ['NoCapacity', (s) => nic('down', s, { speed: -125000 })],
  zero: ['NoCapacity', (s) => nic('zero', s, { speed: 0 })],
  speedless: ['NoCapacity', (s) => deviceLines({ node: 'speedless', device: 'eth0' }, { total: sending(s, 1) })],
  'nan-speed': ['NoCapacity', (s) => nic('nan-speed', s, { speed: 'NaN' })],
  histogram: ['NoSeries', (s) => histogram('histogram', s)],
  twice: ['AmbiguousSeries', (s) => nic('twice', s)],
};

let f: Fixture;
let exporter: TextExporter;
let prometheus: RunningPrometheus;
/** The samples of the sound nodes, `idle` and `hot`. */
let sound: (s: number) => string = (s) => nic('idle', s) + nic('hot', s, { total: sending(s, 60) });

beforeAll(async () => {
  f = await startFixture({ nodes: ['idle', 'hot', ...Object.keys(ODD)] });
  exporter = await startTextExporter();
  exporter.text = (s, path) => {
    if (path === '/metrics')
      return (
        sound(s) +
        Object.values(ODD)
          .map(([, text], i) => (i < 6 ? text(s) : ''))
          .join('')
      );
    return ODD[path.slice(1)]?.[1](s);
  };
  prometheus = await startPrometheus({ config: configOf(exporter.address) });
  await f.startOperator([], { prometheusUrl: prometheus.url });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual(LABELS), WAIT);
});
afterAll(async () => {
  await f.stop();
  await prometheus.stop();
  await exporter.stop();
});

function configOf(address: string) {
  const job = (path: string, targets: readonly Record<string, string>[], more = {}) => ({
    job_name: path,
    metrics_path: path,
    honor_labels: true,
    static_configs: targets.map((labels) => ({ targets: [address], labels })),
    ...more,
  });
  const clusters = ['x', 'y'].map((cluster) => ({ cluster }));
  return {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
    scrape_configs: [
      job('/metrics', [{}]),
      job('/twice', clusters),
      job('/histogram', [{}], { convert_classic_histograms_to_nhcb: true }),
    ],
  };
}

async function verdicts(): Promise<Record<string, unknown>> {
  const nodes = (await f.watch('web')).status?.nodes ?? {};
  return Object.fromEntries(Object.entries(nodes).map(([name, { verdict, reason }]) => [name, [verdict, reason]]));
}

describe('samples that are no numbers', () => {
  it('make their nodes Unknown with a reason, and no other', async () => {
    const odd = Object.fromEntries(Object.entries(ODD).map(([name, [reason]]) => [name, ['Unknown', reason]]));
    const expected = { idle: ['Fit', 'BelowThreshold'], hot: ['Unfit', 'AboveThreshold'], ...odd };
    await vi.waitFor(async () => expect(await verdicts()).toEqual(expected), WAIT);
    expect(await f.labels(KEY)).toEqual(LABELS);
    measured(`odd samples: ${JSON.stringify(odd)}; two sound nodes are still decided`);
  });
});

/** Makes a change and checks, long after, that no node was written. */
async function changesNothing(what: string, change: (s: number) => string): Promise<void> {
  const before = await f.nodeVersions();
  const timeOf = async () => (await f.watch('web')).status?.nodes?.idle?.time ?? 0;
  const start = await timeOf();
  sound = change;
  await vi.waitFor(async () => expect(await timeOf()).toBeGreaterThan(start + LONG_AFTER_SECONDS), WAIT);
  const sure = { idle: ['Fit', 'BelowThreshold'], hot: ['Unfit', 'AboveThreshold'] };
  // A scrape that comes too late leaves them without a verdict for a pass, not with a different verdict.
  await vi.waitFor(async () => expect(await verdicts()).toMatchObject(sure), WAIT);
  expect(await f.nodeVersions()).toEqual(before);
  measured(`${what}: no node written in ${LONG_AFTER_SECONDS} s`);
}

describe('no label changes', () => {
  let since = 0;
  const afresh = (s: number): string =>
    nic('idle', s, { total: sending(s - since, 1) }) + nic('hot', s, { total: sending(s - since, 60) });
  const nodes = ['idle', 'hot'];

  it('when counters begin again', async () => {
    await changesNothing('counters that begin at 0', (s) => {
      since ||= s;
      return afresh(s);
    });
  });

  it('when a NIC is added that has sent terabytes before', async () => {
    const added = (s: number): string => nodes.map((name) => nic(name, s, { total: 8e13 }, 'eth1')).join('');
    await changesNothing('a NIC added', (s) => afresh(s) + added(s));
  });

  it('when it is removed', async () => {
    await changesNothing('a NIC removed', afresh);
  });
});

describe('the condition', () => {
  it('names nodes without figures, once they are no newcomers', async () => {
    const conditionOf = async () =>
      (await f.watch('web')).status?.conditions?.find(({ type }) => type === 'MetricsAvailable');
    const message =
      'no data for down (NoCapacity), histogram (NoSeries), infinite (InvalidSample), ' +
      'nan (InvalidSample), nan-speed (NoCapacity) and 3 more; down: the capacity is unknown (eth0: speed ';
    await vi.waitFor(async () => {
      const condition = await conditionOf();
      expect(condition?.reason).toBe('PartialData');
      expect(condition?.message).toContain(message);
    }, WAIT);
  });
});
