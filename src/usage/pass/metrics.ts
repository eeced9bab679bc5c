import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { UsageMetrics } from './queryRunner.ts';
import type { CapacitySource } from '../evaluate/percent.ts';
import { LATE_SECONDS, type Lag, type Snapshot } from '../evaluate/snapshot.ts';

/** Seconds. A query takes a few ms on a small cluster and 60 to 90 ms with 10,000 nodes. Its deadline is 8 s. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The usage of each node. Computes the values at scrape time: scrapes are rarer than passes, and setting each value
 * would hash the labels of thousands of nodes. A node without a percent in the newest pass has no series.
 */
class BandwidthRatios extends Gauge<'node'> {
  newest: Snapshot | undefined;

  constructor(registry: Registry) {
    super({
      name: 'traffic_operator_node_bandwidth_ratio',
      help: 'Transmit rate of the measured devices of a node divided by their capacity; 1 is full. Absent if it is unknown.',
      labelNames: ['node'],
      registers: [registry],
    });
  }

  override async get(): ReturnType<Gauge<'node'>['get']> {
    const values: { labels: { node: string }; value: number }[] = [];
    for (const [node, { percent }] of this.newest?.nodes ?? []) {
      if (percent !== undefined) values.push({ labels: { node }, value: percent / 100 });
    }
    return { ...(await super.get()), values };
  }
}

/**
 * The number of measured nodes for each source of their capacity. Counts at scrape time, because scrapes are rarer than
 * passes.
 */
class CapacitySources extends Gauge<'source'> {
  newest: Snapshot | undefined;

  constructor(registry: Registry) {
    super({
      name: 'traffic_operator_capacity_source_nodes',
      help:
        'Nodes with a figure in the newest pass, by the source of their capacity: Annotation, Label (--capacity-label), ' +
        'ActiveSlaves (link speeds, with a bond among the devices) or Series (link speeds). Without spec.capacity of ' +
        'TrafficWatches. Absent after a failed pass.',
      labelNames: ['source'],
      registers: [registry],
    });
  }

  override async get(): ReturnType<Gauge<'source'>['get']> {
    const counts: Record<Exclude<CapacitySource, 'Spec'>, number> = {
      Annotation: 0,
      Label: 0,
      ActiveSlaves: 0,
      Series: 0,
    };
    for (const { capacitySource } of this.newest?.nodes.values() ?? []) {
      // The default reading, which this is about, states no capacity.
      if (capacitySource !== undefined && capacitySource !== 'Spec') counts[capacitySource] += 1;
    }
    const values = Object.entries(counts).map(([source, value]) => ({ labels: { source }, value }));
    return { ...(await super.get()), values: this.newest?.ok ? values : [] };
  }
}

/** The number of series that the newest pass could not assign to one node. Absent after a failed pass. */
function createStraySeries(registry: Registry): (snapshot: Snapshot) => void {
  const gauge = new Gauge({
    name: 'traffic_operator_stray_series',
    help: 'Device series of the newest pass whose labels match no node (nodes="none") or more than one node (nodes="several"). Absent after a failed pass.',
    labelNames: ['nodes'],
    registers: [registry],
  });
  return ({ ok, unmatchedSeries, ambiguousSeries }) => {
    gauge.reset();
    if (!ok) return;
    gauge.set({ nodes: 'none' }, unmatchedSeries);
    gauge.set({ nodes: 'several' }, ambiguousSeries);
  };
}

/** How late samples reach Prometheus, and of how many nodes. Absent after a failed pass, and until it is known. */
function createLag(registry: Registry): (snapshot: Snapshot) => void {
  const lag = new Gauge({
    name: 'traffic_operator_sample_lag_seconds',
    help: 'How late samples of the nodes reach Prometheus: the age of the newest sample that 95 % of the series exceed, asked for once a minute. Absent until it is known, and after a failed pass.',
    registers: [registry],
  });
  const lateNodes = new Gauge({
    name: 'traffic_operator_late_nodes',
    help: `Nodes whose samples reach Prometheus ${LATE_SECONDS} s late or more, asked for once a minute. Their figures are as old, or absent. Absent until it is known, and after a failed pass.`,
    registers: [registry],
  });
  const show = (gauge: Gauge, value: number | undefined): void => {
    // A gauge without labels begins with 0.
    gauge.remove();
    if (value !== undefined) gauge.set(value);
  };
  const showAll = (snapshot: Lag): void => {
    show(lag, snapshot.lagSeconds);
    show(lateNodes, snapshot.lateNodes?.size);
  };
  showAll({});
  return showAll;
}

/** Registers the metrics of the feed. Call it once per registry. */
export function createUsageMetrics(registry: Registry): UsageMetrics {
  const registers = [registry];
  const queries = new Histogram({
    name: 'traffic_operator_prometheus_query_duration_seconds',
    help: 'Duration of a query to Prometheus, by kind and outcome: ok, or the reason of the failure.',
    labelNames: ['kind', 'outcome'],
    buckets: BUCKETS,
    registers,
  });
  const passes = new Counter({
    name: 'traffic_operator_passes_total',
    help: 'Passes that ended, by result: ok, or the reason of the failure.',
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: 'traffic_operator_pass_duration_seconds',
    help: 'Time from the start of a pass to its snapshot.',
    buckets: BUCKETS,
    registers,
  });
  const ratios = new BandwidthRatios(registry);
  const sources = new CapacitySources(registry);
  const showStrays = createStraySeries(registry);
  const showLag = createLag(registry);
  return {
    queryEnded: (kind, outcome, seconds) => queries.observe({ kind, outcome }, seconds),
    passEnded: (snapshot, seconds) => {
      passes.inc({ result: snapshot.ok ? 'ok' : (snapshot.error?.reason ?? 'unknown') });
      duration.observe(seconds);
      ratios.newest = snapshot;
      sources.newest = snapshot;
      showStrays(snapshot);
      showLag(snapshot);
    },
  };
}
