import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { measured, seconds } from '../../harness/measured.ts';
import { startPrometheus, type RunningPrometheus } from '../../harness/prometheus.ts';
import { component, startScene, WAIT, type StackScene } from './scene.ts';

/** Many components ask a Prometheus that stands still: eight queries wait at once, each for 15 s, and keep the others from being sent. */
const USER = 'stack-late-asker';
/** Eight at once, 15 s each: the last of them would be sent after 135 s. */
const QUERIES = 80;
/** An answer counts for 45 s. The rest is for a busy machine. */
const TOLD_WITHIN_MS = 60_000;
let s: StackScene;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  s = await startScene(USER);
  const target = { job_name: 'nodes', static_configs: [{ targets: [s.f.exporter.target] }] };
  prometheus = await startPrometheus({ config: { global: { scrape_interval: '1s' }, scrape_configs: [target] } });
  const args = ['--stacks'];
  await s.f.startOperator(args, { kubeconfig: s.kubeconfig, prometheusUrl: prometheus.url });
});
afterAll(async () => {
  await s.stop();
  await prometheus.stop();
});

/** Each with another query; without pods, it is ready when that is true. */
const asking = (n: number): ComponentSpec =>
  component(`asks-${n}`, { ready: { query: `count(up) > 0.${n}` }, workload: { replicas: 0 } });

async function states(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of (await s.stack()).status?.components ?? []) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

it('what Prometheus said before it stood still keeps nothing ready, also of queries that are not sent', async () => {
  const names = Array.from({ length: QUERIES }, (_, n) => n + 1);
  await s.create('main', names.map(asking));
  await vi.waitFor(async () => expect(await states()).toEqual({ Ready: QUERIES }), WAIT);
  process.kill(prometheus.pid, 'SIGSTOP');
  const stopped = performance.now();
  await vi.waitFor(async () => expect(await states()).toEqual({ Unknown: QUERIES }), {
    ...{ timeout: TOLD_WITHIN_MS, interval: 500 },
  });
  measured(
    `${QUERIES} queries are without an answer ${seconds(performance.now() - stopped)} after Prometheus stood still`,
  );
  const messages = (await s.stack()).status?.components?.map(({ message }) => message) ?? [];
  const late = messages.filter((each) => each.includes('no answer within 45 s; the last error: '));
  expect(late.length).toBeGreaterThan(0);
  process.kill(prometheus.pid, 'SIGCONT');
  await vi.waitFor(async () => expect(await states()).toEqual({ Ready: QUERIES }), WAIT);
});
