import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** What a restart of the operator and an outage of Prometheus must not change, on a real API server and Prometheus. */
const WAIT = { timeout: 90_000, interval: 200 };
/** With room for a machine in other use: a pass that misses its deadline is no restart with everything in order. */
const WINDOW_SECONDS = 20;
const PACE = ['--interval=4s', `--window=${WINDOW_SECONDS}s`];
const key = (label: string): string => `${label}.traffic.example.com/unfit`;

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  f.exporter.setPercent('n2', 60);
  await f.startOperator(PACE);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => {
    expect(await f.labels(key('web'))).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
  }, WAIT);
});
afterAll(async () => {
  await f.stop();
});

const condition = (watch: TrafficWatch, type: string) => watch.status?.conditions?.find((c) => c.type === type);

/**
 * Whether each pass of the operator had an answer, and each scrape since then, wall clock seconds, none so late that a
 * window had only one.
 */
async function wasInOrder(since: number): Promise<boolean> {
  const query = `up[${Math.ceil(Date.now() / 1000 - since) + WINDOW_SECONDS}s]`;
  const answer = await fetch(`${f.prometheusUrl}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await answer.json()) as { data: { result: { values: [number, string][] }[] } };
  const passes = (await (await fetch(f.operator().metricsUrl)).text()).matchAll(
    /^traffic_operator_passes_total\{.*$/gm,
  );
  const failed = [...passes].filter(([line]) => !line.includes('result="ok"') && !line.endsWith(' 0'));
  const scrapes = data.result.flatMap(({ values }) => values);
  if (failed.length > 0) return false;
  return scrapes.every(([at, up], n) => up === '1' && at - (scrapes[n - 1]?.[0] ?? at) < WINDOW_SECONDS / 2);
}

describe('a restart', () => {
  it('with everything in order changes no label, verdict or condition', async () => {
    const settledState = async () => {
      const { status } = await f.watch('web');
      const nodes = Object.entries(status?.nodes ?? {}).map(([name, n]) => [name, n.verdict, n.since, n.unfit]);
      return {
        nodes,
        conditions: status?.conditions,
        labels: await f.labels(key('web')),
        versions: await f.nodeVersions(),
      };
    };
    let begin: number;
    let [before, after]: unknown[] = [];
    do {
      await vi.waitFor(async () => {
        const watch = await f.watch('web');
        expect(watch.status?.unknownNodes).toBe(0);
        expect(condition(watch, 'MetricsAvailable')?.status).toBe('True');
        expect(condition(watch, 'Reconciling')?.status).toBe('False');
      }, WAIT);
      begin = Date.now() / 1000;
      before = await settledState();
      const { status } = await f.watch('web');
      await f.stopOperator();
      await f.startOperator(PACE);
      await vi.waitFor(async () => {
        expect((await f.watch('web')).status?.nodes?.n1?.time).toBeGreaterThan((status?.nodes?.n1?.time ?? 0) + 2);
      }, WAIT);
      after = await settledState();
    } while (!(await wasInOrder(begin)));
    expect(after).toEqual(before);
  });
});

describe('when Prometheus is down', () => {
  it('labels stay, ready stays, and condition and event say so', async () => {
    const before = await f.labels(key('web'));
    await f.stopPrometheus();
    await vi.waitFor(async () => {
      const watch = await f.watch('web');
      expect(condition(watch, 'PrometheusReachable')).toMatchObject({
        status: 'False',
        reason: 'PrometheusUnreachable',
      });
      expect(watch.status).toMatchObject({ ready: true, unknownNodes: 3 });
    }, WAIT);
    expect(await f.labels(key('web'))).toEqual(before);
    await vi.waitFor(async () => {
      expect((await f.events('web')).map((e) => e.reason)).toContain('PrometheusUnreachable');
    }, WAIT);
  });

  it('a restarted operator changes nothing either', async () => {
    const before = await f.labels(key('web'));
    const versions = await f.nodeVersions();
    await f.restartOperator();
    await vi.waitFor(() => expect(f.operator().log()).toContain('Prometheus gives no usable answer'), WAIT);
    expect([await f.labels(key('web')), await f.nodeVersions()]).toEqual([before, versions]);
    expect((await f.watch('web')).status?.ready).toBe(true);
    await f.startPrometheus();
    await vi.waitFor(async () => {
      expect(condition(await f.watch('web'), 'PrometheusReachable')?.status).toBe('True');
    }, WAIT);
  });
});
