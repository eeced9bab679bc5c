import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ControllerMetrics } from '../controller/controller.ts';
import type { EventMetrics } from '../controller/events.ts';
import type { HttpMetrics } from '../server/httpServer.ts';
import type { ReflectorMetrics } from '../cache/informer.ts';
import type { TransportMetrics } from '../client/transport.ts';
import type { WriteMetrics } from '../client/client.ts';

/** Prefix of every metric of this program, except the usual `process_` and `nodejs_` metrics. */
export const METRIC_PREFIX = 'traffic_operator_';

/** A process with a Lease: the manager, or the one for DNS weights. Alerts tell them apart by this label, also in one scrape job. */
export type LeadingProcess = 'manager' | 'weights';

/** Seconds. A call on a healthy API server takes 1 to 100 ms; its attempt ends at 10 s. */
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Seconds. A reconcile without a write takes under 1 ms; one that labels all nodes of a large cluster, minutes. */
const RECONCILE_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The longest timer. prom-client's sampling of the event loop cannot be disabled, only delayed. */
const NEVER_MS = 2 ** 31 - 1;

/** The metrics of the parts of the runtime. */
export interface RuntimeMetrics {
  readonly registry: Registry;
  readonly transport: TransportMetrics;
  readonly reflector: ReflectorMetrics;
  readonly controller: ControllerMetrics;
  readonly events: EventMetrics;
  readonly writes: WriteMetrics;
  readonly http: HttpMetrics;
  /** Whether this process leads. */
  leading(isLeader: boolean): void;
  /** How many series of a kind a SeriesBudget leaves out now. */
  seriesLeftOut(kind: string, count: number): void;
}

/** A registry with the metrics of the process itself: CPU, memory, file descriptors, event loop, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  createEventLoopLag(registry);
  return registry;
}

/**
 * Registers the runtime's metrics. Call it once per registry.
 *
 * @param process undefined for a process that never leads: it must not look like a standby whose leader is missing
 */
export function createMetrics(registry: Registry, process?: LeadingProcess): RuntimeMetrics {
  const make = makers(registry);
  const leftOut = make.gauge(
    'metric_series_left_out',
    'Objects or parts of objects that have no series, by kind, since too many had a new name within three hours.',
    ['kind'],
  );
  const leader = make.gauge(
    'leader',
    '1 if this process is the leader, 0 if it stands by. The label process is manager, or weights for DNS weights.',
    ['process'],
  );
  const leading = (isLeader: boolean): void => {
    if (process !== undefined) leader.set({ process }, isLeader ? 1 : 0);
  };
  leading(false);
  return {
    registry,
    transport: transportMetrics(make),
    reflector: reflectorMetrics(make),
    controller: controllerMetrics(make),
    events: eventMetrics(make),
    writes: writeMetrics(make),
    http: httpMetrics(make),
    leading,
    seriesLeftOut: (kind, count) => leftOut.set({ kind }, count),
  };
}

type Makers = ReturnType<typeof makers>;

function makers(registry: Registry) {
  const common = <L extends string>(name: string, help: string, labelNames: readonly L[]) => ({
    name: `${METRIC_PREFIX}${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: <L extends string>(name: string, help: string, labels: readonly L[]) =>
      new Counter<L>(common(name, help, labels)),
    /** @param collect called at each scrape */
    gauge: <L extends string>(name: string, help: string, labels: readonly L[], collect?: (this: Gauge<L>) => void) =>
      new Gauge<L>({ ...common(name, help, labels), ...(collect && { collect }) }),
    histogram: <L extends string>(name: string, help: string, labels: readonly L[], buckets: number[]) =>
      new Histogram<L>({ ...common(name, help, labels), buckets }),
  };
}

function transportMetrics(make: Makers): TransportMetrics {
  const requests = make.counter(
    'api_requests_total',
    'Requests to the API server, retries included, by HTTP status, or by the cause if there was no response.',
    ['verb', 'resource', 'code'],
  );
  const seconds = make.histogram(
    'api_request_duration_seconds',
    'Duration of a request to the API server until the response; for a watch, until the response headers.',
    ['verb', 'resource'],
    CALL_BUCKETS,
  );
  const connections = make.gauge('api_connections', 'Open connections to the API server.', ['lane']);
  return {
    attemptEnded({ verb, resource, code }, duration) {
      requests.inc({ verb, resource, code });
      seconds.observe({ verb, resource }, duration);
    },
    connectionOpened: (lane) => connections.inc({ lane }),
    connectionClosed: (lane) => connections.dec({ lane }),
  };
}

function reflectorMetrics(make: Makers): ReflectorMetrics {
  const lists = make.counter('reflector_lists_total', 'Full lists written to a cache, by the way they were read.', [
    'resource',
    'how',
  ]);
  const watches = make.counter('reflector_watches_total', 'Watches started.', ['resource']);
  const ends = make.counter('reflector_watch_ends_total', 'Watches and lists that ended, by reason.', [
    'resource',
    'reason',
  ]);
  const badLines = make.counter('reflector_bad_lines_total', 'Lines of watch responses that could not be parsed.', [
    'resource',
  ]);
  const failures = make.counter('reflector_listener_failures_total', 'Cache events whose subscriber threw an error.', [
    'resource',
  ]);
  const objects = make.gauge('reflector_objects', 'Objects in a cache.', ['resource']);
  const dropped = make.counter(
    'reflector_dropped_bodies_total',
    'Versions of objects of which a cache kept only the identity, since the objects of their namespace or kind take too much memory, or since they cannot be parsed.',
    ['resource'],
  );
  const memories = new Map<string, { readonly usedRatio: number }>();
  make.gauge(
    'reflector_body_memory_ratio',
    'Memory of cached objects divided by what they may take: of all namespaces together (budget="namespaces"), or of a cluster-wide kind. Near 1, bodies are dropped.',
    ['budget'],
    function () {
      for (const [budget, { usedRatio }] of memories) this.set({ budget }, usedRatio);
    },
  );
  return {
    listed: (resource, how) => lists.inc({ resource, how }),
    watchStarted: (resource) => watches.inc({ resource }),
    watchEnded: (resource, reason) => ends.inc({ resource, reason }),
    badLine: (resource) => badLines.inc({ resource }),
    listenerFailed: (resource) => failures.inc({ resource }),
    objects: (resource, count) => objects.set({ resource }, count),
    bodyDropped: (resource) => dropped.inc({ resource }),
    bodyMemory: (budget, memory) => memories.set(budget, memory),
  };
}

function controllerMetrics(make: Makers): ControllerMetrics {
  const reconciles = make.counter('reconciles_total', 'Reconciles that ended, by result.', ['controller', 'result']);
  const seconds = make.histogram(
    'reconcile_duration_seconds',
    'Duration of a reconcile.',
    ['controller'],
    RECONCILE_BUCKETS,
  );
  const errors = make.counter('errors_total', 'Reconciles that failed, by reason.', ['controller', 'reason']);
  const queue = queueMetrics(make);
  return {
    reconciled(controller, result, duration) {
      reconciles.inc({ controller, result });
      seconds.observe({ controller }, duration);
    },
    failed: (controller, reason) => errors.inc({ controller, reason }),
    queue,
  };
}

function queueMetrics(make: Makers): ControllerMetrics['queue'] {
  const depth = make.gauge('workqueue_depth', 'Keys that wait for a worker.', ['controller']);
  const adds = make.counter(
    'workqueue_adds_total',
    'Keys added to the queue. A key that already waits is not counted again.',
    ['controller'],
  );
  const retries = make.counter('workqueue_retries_total', 'Keys requeued after a failure.', ['controller']);
  const wait = make.histogram(
    'workqueue_wait_seconds',
    'Time that a key waited for a worker.',
    ['controller'],
    RECONCILE_BUCKETS,
  );
  return (controller) => ({
    depth: (length) => depth.set({ controller }, length),
    added: () => adds.inc({ controller }),
    retried: () => retries.inc({ controller }),
    taken: (waited) => wait.observe({ controller }, waited),
  });
}

function eventMetrics(make: Makers): EventMetrics {
  const written = make.counter('events_total', 'Kubernetes events written, repetitions included.', ['type', 'reason']);
  const dropped = make.counter('events_dropped_total', 'Kubernetes events that were not written, by cause.', ['cause']);
  return {
    written: (type, reason) => written.inc({ type, reason }),
    dropped: (cause) => dropped.inc({ cause }),
  };
}

function writeMetrics(make: Makers): WriteMetrics {
  const writes = make.counter('writes_total', 'Writes that the API server accepted, by kind and verb.', [
    'kind',
    'verb',
  ]);
  return { wrote: (kind, verb) => writes.inc({ kind, verb }) };
}

function httpMetrics(make: Makers): HttpMetrics {
  const failed = make.counter(
    'http_requests_failed_total',
    'Failed requests and connections to the HTTP servers of the operator, by reason.',
    ['server', 'reason'],
  );
  return { failed: (server, reason) => failed.inc({ server, reason }) };
}

/** Node.js' histogram of the times between two samples of the event loop, nanoseconds. */
export type LooksHistogram = ReturnType<typeof monitorEventLoopDelay>;

/** Sampling interval. prom-client samples five times as often, which costs an idle process 0.4 % of a core. */
export const LOOK_EVERY_MS = 50;

/** The statistics since the last scrape, with the names of prom-client, so that dashboards for Node.js work. */
const SEEN: Readonly<Record<string, { help: string; of: (seen: LooksHistogram) => number }>> = {
  min: { help: 'Shortest', of: ({ min }) => min },
  max: { help: 'Longest', of: ({ max }) => max },
  mean: { help: 'Mean', of: ({ mean }) => mean },
  p50: { help: 'Median', of: (seen) => seen.percentile(50) },
  p90: { help: '90th percentile of the', of: (seen) => seen.percentile(90) },
  p99: { help: '99th percentile of the', of: (seen) => seen.percentile(99) },
};

/** prom-client's metrics to replace: they include the sampling interval. The deviation is dropped. */
const REPLACED = [...Object.keys(SEEN), 'stddev'];

/**
 * Registers metrics of the event loop's lag instead of prom-client's metrics of the same names. Node.js' histogram
 * contains the times between two samples; these metrics subtract the sampling interval.
 *
 * @param seen reset at each scrape
 */
export function createEventLoopLag(
  registry: Registry,
  seen: LooksHistogram = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS }),
): void {
  seen.enable();
  for (const kind of REPLACED) registry.removeSingleMetric(nameOf(kind));
  // Sets all gauges when the first is collected: each must be read before the histogram is reset.
  const collect = (): void => {
    if (seen.count === 0) return;
    for (const { gauge, of } of gauges) gauge.set(Math.max(0, of(seen) / 1e9 - LOOK_EVERY_MS / 1000));
    seen.reset();
  };
  const gauges = Object.entries(SEEN).map(([kind, { help, of }], index) => {
    const about = { name: nameOf(kind), help: `${help} lag of the event loop since the last scrape.` };
    return { of, gauge: new Gauge({ ...about, registers: [registry], ...(index === 0 && { collect }) }) };
  });
}

function nameOf(kind: string): string {
  return `nodejs_eventloop_lag_${kind}_seconds`;
}
