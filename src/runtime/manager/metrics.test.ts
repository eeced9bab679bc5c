import { describe, expect, it } from 'vitest';
import { createMetrics, createRegistry } from './metrics.ts';

describe('createMetrics', () => {
  it('tells of the process and of every part of the runtime', async () => {
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
