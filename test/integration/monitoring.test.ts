import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { HttpServer } from '../harness/httpServer.ts';
import { startNodeExporter } from '../harness/nodeExporter.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import type { RunningPrometheus } from '../harness/prometheus.ts';

let exporter: HttpServer;
let prometheus: RunningPrometheus;

function scraping(job: string): string {
  return `global: { scrape_interval: 200ms }
scrape_configs: [{ job_name: ${job}, static_configs: [{ targets: ['${exporter.address}'] }] }]`;
}

async function query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
  const answer = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const body = (await answer.json()) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] };
  };
  return body.data.result;
}

beforeAll(async () => {
  exporter = await startNodeExporter({ flags: ['--collector.disable-defaults', '--collector.netdev'] });
  prometheus = await startPrometheus({ config: scraping('first') });
});
afterAll(async () => {
  await Promise.all([exporter.stop(), prometheus.stop()]);
  expect([existsSync(`/proc/${exporter.pid}`), existsSync(`/proc/${prometheus.pid}`)]).toEqual([false, false]);
  expect(existsSync(prometheus.directory)).toBe(false);
});

it('measures the real devices of this machine', async () => {
  await vi.waitFor(
    async () => expect(await query('node_network_transmit_bytes_total{device="lo"}')).toHaveLength(1),
    90_000,
  );
});

it('takes a new configuration, and says when it is refused', async () => {
  await prometheus.configure(scraping('second'));
  await vi.waitFor(async () => expect(await query('up{job="second"} == 1')).toHaveLength(1), 90_000);
  await expect(prometheus.configure('scrape_configs: 7')).rejects.toThrow('refuses');
});

it('says why a server did not start', async () => {
  await expect(startNodeExporter({ flags: ['--no-such-flag'] })).rejects.toThrow('no-such-flag');
});
