import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { InformerEvent } from '../../src/runtime/cache/informer.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import type { Operator } from '../harness/operator.ts';
import { startPrometheus, type RunningPrometheus } from '../harness/prometheus.ts';
import { SLACK } from '../harness/slack.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Two operators on a real API server: the one that stands by has caches, passes and decisions ready. The leader asks a
 * Prometheus of its own, which goes away, so that the traffic moves unseen by it and seen by the standby.
 */
const WAIT = { timeout: 90_000, interval: 100 };
/** A feed that began with leadership would need two passes, 10 s apart, before it wrote a label. */
const INTERVAL_MS = 10_000;
const ARGS = ['--leader-elect', '--namespace=default', `--interval=${INTERVAL_MS / 1000}s`];
const TAKEN_OVER_WITHIN_MS = Math.min(SLACK * 3_000, INTERVAL_MS);
const KEY = unfitKey('web');
const BEFORE = { n1: 'true', n2: 'false' };
const AFTER = { n1: 'false', n2: 'true' };

let f: Fixture;
let leadersPrometheus: RunningPrometheus;
let leader: Operator;
let standby: Operator;
/** When a watch told of each label that was written, by the wall clock. */
const labelled: { node: string; value: string | undefined; at: number }[] = [];
let stopFollowing: () => Promise<void>;

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n1', 50);
  stopFollowing = await follow(f.controlPlane, NODES, noteLabel);
  leadersPrometheus = await startPrometheus({
    config: {
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: 'nodes', static_configs: [{ targets: [f.exporter.target] }] }],
    },
  });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  leader = await f.startOperator(ARGS, { prometheusUrl: leadersPrometheus.url });
  await vi.waitFor(async () => expect(await metric(leader, 'leader')).toBe(1), WAIT);
  standby = await f.startOperator(ARGS);
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual(BEFORE), WAIT);
});
afterAll(async () => {
  await stopFollowing();
  await leader.kill();
  await leadersPrometheus.stop();
  await f.stop();
});

function noteLabel(event: InformerEvent<V1Node>): void {
  const value = event.object.metadata?.labels?.[KEY];
  const old = event.type === 'update' ? event.old?.metadata?.labels?.[KEY] : undefined;
  if (value !== old) labelled.push({ node: event.object.metadata?.name ?? '', value, at: Date.now() });
}

const metricsOf = async ({ metricsUrl }: Operator): Promise<string> => (await fetch(metricsUrl)).text();

/** The sum of a metric's series whose labels contain the text; 0 where there is none. */
async function metric(operator: Operator, name: string, labels = ''): Promise<number> {
  const isOfIt = new RegExp(`^traffic_operator_${name}[{ ]`);
  const lines = (await metricsOf(operator)).split('\n').filter((line) => isOfIt.test(line) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('a standby', () => {
  it('keeps caches, passes and decisions warm, and writes nothing', async () => {
    const work = () =>
      Promise.all([
        metric(standby, 'passes_total', 'result="ok"'),
        metric(standby, 'prometheus_query_duration_seconds_count', 'outcome="ok"'),
        metric(standby, 'reconciles_total', 'controller="trafficwatch",result="success"'),
      ]);
    const before = await work();
    await vi.waitFor(async () => {
      const now = await work();
      for (const [i, count] of now.entries()) expect(count).toBeGreaterThan(before[i]!);
    }, WAIT);
    expect(await metric(standby, 'reflector_objects', 'resource="nodes"')).toBe(2);
    expect(await metric(standby, 'leader')).toBe(0);
    expect(await metric(standby, 'writes_total')).toBe(0);
    const requests = (await metricsOf(standby)).split('\n').filter((line) => line.includes('api_requests_total{'));
    expect(requests.filter((line) => !/verb="(get|list|watch)"/i.test(line))).toEqual([]);
  });

  it('has decided what the leader could not see, and writes it within 3 s of the leader’s SIGTERM', async () => {
    await leadersPrometheus.stop();
    f.exporter.setPercent('n1', 1);
    f.exporter.setPercent('n2', 60);
    await vi.waitFor(async () => {
      const unfit = (node: string) => metric(standby, 'node_unfit', `node="${node}"`);
      expect([await unfit('n1'), await unfit('n2')]).toEqual([0, 1]);
    }, WAIT);
    expect(await f.labels(KEY)).toEqual(BEFORE);
    expect(await metric(standby, 'writes_total')).toBe(0);
    const [passes, from] = [await metric(standby, 'passes_total'), performance.now()];
    labelled.length = 0;
    const told = Date.now();
    const ended = leader.terminate();
    await vi.waitFor(() => expect(labelled).not.toEqual([]), { ...WAIT, interval: 20 });
    const took = labelled[0]!.at - told;
    console.log(`first label ${took} ms after the leader's SIGTERM, which ended after ${Math.round(await ended)} ms`);
    expect(took).toBeLessThan(TAKEN_OVER_WITHIN_MS);
    await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual(AFTER), WAIT);
    expect(await metric(standby, 'leader')).toBe(1);
    const made = (await metric(standby, 'passes_total')) - passes;
    expect(made).toBeLessThanOrEqual(Math.ceil((performance.now() - from) / INTERVAL_MS));
  });
});
