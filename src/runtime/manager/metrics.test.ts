import { describe, expect, it, vi } from 'vitest';
import { createHistogram } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { createMetrics, createRegistry, createEventLoopLag, LOOK_EVERY_MS, type LooksHistogram } from './metrics.ts';

describe('createMetrics', () => {
  it('tells of the process and of every part of the runtime', async () => {
    const memory = { usedRatio: 0 };
    const text = await shown((metrics) => {
      metrics.transport.attemptEnded({ verb: 'get', resource: 'nodes', code: '200' }, 0.02);
      metrics.transport.connectionOpened('lease');
      metrics.reflector.listed('nodes', 'watch-list');
      metrics.reflector.watchStarted('nodes');
      metrics.reflector.watchEnded('nodes', 'gone');
      metrics.reflector.badLine('nodes');
      metrics.reflector.listenerFailed('nodes');
      metrics.reflector.objects('nodes', 3);
      metrics.reflector.bodyDropped('pods');
      metrics.reflector.bodyMemory('namespaces', memory);
      memory.usedRatio = 0.25;
      metrics.controller.reconciled('trafficwatch', 'success', 0.02);
      metrics.controller.failed('trafficwatch', 'Conflict');
      const queue = metrics.controller.queue('trafficwatch');
      queue.depth(2);
      queue.added();
      queue.retried();
      queue.taken(0.02);
      metrics.events.written('Normal', 'NodeUnfit');
      metrics.events.dropped('full');
      metrics.writes.wrote('Node', 'patch');
      metrics.http.failed('health server', 'malformed');
      metrics.leading(true);
    });
    for (const line of [
      'traffic_operator_api_requests_total{verb="get",resource="nodes",code="200"} 1',
      'traffic_operator_api_request_duration_seconds_bucket{le="0.025",verb="get",resource="nodes"} 1',
      'traffic_operator_api_connections{lane="lease"} 1',
      'traffic_operator_reflector_lists_total{resource="nodes",how="watch-list"} 1',
      'traffic_operator_reflector_watches_total{resource="nodes"} 1',
      'traffic_operator_reflector_watch_ends_total{resource="nodes",reason="gone"} 1',
      'traffic_operator_reflector_bad_lines_total{resource="nodes"} 1',
      'traffic_operator_reflector_listener_failures_total{resource="nodes"} 1',
      'traffic_operator_reflector_objects{resource="nodes"} 3',
      'traffic_operator_reflector_dropped_bodies_total{resource="pods"} 1',
      'traffic_operator_reflector_body_memory_ratio{budget="namespaces"} 0.25',
      'traffic_operator_reconciles_total{controller="trafficwatch",result="success"} 1',
      'traffic_operator_reconcile_duration_seconds_bucket{le="0.025",controller="trafficwatch"} 1',
      'traffic_operator_errors_total{controller="trafficwatch",reason="Conflict"} 1',
      'traffic_operator_workqueue_depth{controller="trafficwatch"} 2',
      'traffic_operator_workqueue_adds_total{controller="trafficwatch"} 1',
      'traffic_operator_workqueue_retries_total{controller="trafficwatch"} 1',
      'traffic_operator_workqueue_wait_seconds_count{controller="trafficwatch"} 1',
      'traffic_operator_events_total{type="Normal",reason="NodeUnfit"} 1',
      'traffic_operator_events_dropped_total{cause="full"} 1',
      'traffic_operator_writes_total{kind="Node",verb="patch"} 1',
      'traffic_operator_http_requests_failed_total{server="health server",reason="malformed"} 1',
      'traffic_operator_leader{process="manager"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  });

  it('says that it does not lead until it leads', async () => {
    expect(await shown(() => undefined)).toContain('traffic_operator_leader{process="manager"} 0\n');
  });

  it('has no series of a leader in a process that never leads', async () => {
    const metrics = createMetrics(createRegistry());
    metrics.leading(false);
    expect(await metrics.registry.metrics()).not.toMatch(/^traffic_operator_leader/m);
  });

  it('names counters _total, times in seconds, and gives each a help text', async () => {
    const { registry } = createMetrics(createRegistry());
    for (const { name, type, help } of await registry.getMetricsAsJSON()) {
      if (!name.startsWith('traffic_operator_')) continue;
      expect(help, name).toMatch(/^[A-Z1].*\.$/);
      expect(name.endsWith('_total'), name).toBe(String(type) === 'counter');
      if (String(type) === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });
});

async function shown(use: (metrics: ReturnType<typeof createMetrics>) => void): Promise<string> {
  const metrics = createMetrics(createRegistry(), 'manager');
  use(metrics);
  return metrics.registry.metrics();
}

/** Values of the metrics by statistic. */
async function lags(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).matchAll(/^nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, kind = '', value]) => [kind, Number(value)]));
}

/** Blocks the event loop for `ms` milliseconds. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe('the lag of the event loop', () => {
  const seen = (...ms: number[]): LooksHistogram => {
    const histogram = createHistogram();
    for (const each of ms) histogram.record(each * 1e6);
    return Object.assign(histogram, { enable: () => true, disable: () => true }) as unknown as LooksHistogram;
  };

  it('is the time between two samples minus the sampling interval', async () => {
    const registry = new Registry();
    const late = Array.from({ length: 98 }, () => LOOK_EVERY_MS);
    createEventLoopLag(registry, seen(...late, LOOK_EVERY_MS + 20, LOOK_EVERY_MS + 300));
    const { min, p50, p99, max, mean } = await lags(registry);
    expect([min, p50]).toEqual([expect.closeTo(0, 3), expect.closeTo(0, 3)]);
    expect([p99, max, mean]).toEqual([expect.closeTo(0.02, 3), expect.closeTo(0.3, 2), expect.closeTo(0.0032, 3)]);
  });

  it('is never negative', async () => {
    const registry = new Registry();
    createEventLoopLag(registry, seen(LOOK_EVERY_MS - 5));
    expect(Object.values(await lags(registry))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('is reset at each scrape, and keeps its value without new samples', async () => {
    const registry = new Registry();
    const histogram = seen(LOOK_EVERY_MS + 300) as unknown as ReturnType<typeof createHistogram>;
    createEventLoopLag(registry, histogram as unknown as LooksHistogram);
    expect((await lags(registry)).max).toBeCloseTo(0.3, 2);
    expect((await lags(registry)).max).toBeCloseTo(0.3, 2);
    histogram.record((LOOK_EVERY_MS + 100) * 1e6);
    expect((await lags(registry)).max).toBeCloseTo(0.1, 2);
  });

  it('is measured in this process, with the metric names of prom-client', async () => {
    const registry = createRegistry();
    // Retry until Node.js has taken a sample, which it does not report.
    await vi.waitFor(async () => {
      block(250);
      await nextTurn();
      expect((await lags(registry)).max).toBeGreaterThan(0.1);
    });
    expect(Object.keys(await lags(registry))).toEqual(['min', 'max', 'mean', 'p50', 'p90', 'p99']);
    expect(await registry.getSingleMetricAsString('nodejs_eventloop_lag_seconds')).toMatch(/\d$/m);
  });
});
