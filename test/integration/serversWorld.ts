import { startPrometheus } from '../harness/prometheus.ts';
import { timestamped } from '../harness/syntheticExporter.ts';
import { startThanosPair, type ThanosPair } from '../harness/thanos.ts';
import { deviceLines, startTextExporter } from '../harness/usageExporters.ts';
import { startVictoriaMetrics } from '../harness/victoriaMetrics.ts';

/** Eight scrapes. */
export const WINDOW_SECONDS = 4;
const SCRAPE_INTERVAL = '500ms';
/**
 * As series that a Prometheus writes to the store, which stop without staleness markers. Timestamps are enough for a Prometheus that scrapes.
 * VictoriaMetrics otherwise marks a series with timestamps as stale when it ends, at the time of the first scrape that
 * had it. After a single scrape, this marker hides the sample, and the series is gone at once.
 */
const STOPS_SILENTLY = { no_stale_markers: true };
/** Bytes per second of each eth0. */
export const SPEED = 1e7;

/** Percent that each node sends. */
export const PERCENTS: Readonly<Record<string, number>> = { n1: 10, n2: 25, n3: 60 };
/** The nodes, by the names that the exporter gives in the label `node`. */
export const NODES = Object.fromEntries(Object.keys(PERCENTS).map((name) => [name, {}]));

/** The metrics page of an exporter after some seconds. */
type Text = (seconds: number) => string;

/** The metrics pages of the exporter, by the path that is scraped. Tests may change the parts of nodes of their own. */
export class Texts {
  /** Nodes that change. Each has a test of its own, because the servers show samples at different times. */
  changing: Record<string, Text> = Object.fromEntries(
    ['ending', 'slower-Prometheus', 'slower-VictoriaMetrics', 'slower-Thanos Query'].map((node) => [
      node,
      (s) => nodeLines(node, s, 10),
    ]),
  );
  /** Nodes whose counters fall. Their samples have the time at which they were counted, so a late scrape changes no rate. */
  falling: Record<string, Text> = {};
  /** The node `stored`, as each of two replicas writes it to one store. */
  stored: Record<'a' | 'b', Text> = { a: (s) => nodeLines('stored', s, 10), b: (s) => nodeLines('stored', s, 10) };

  at(path: string, seconds: number): string {
    if (path === '/changing') return joined(this.changing, seconds);
    if (path === '/falling') return timestamped(joined(this.falling, seconds));
    if (path === '/stored/a') return timestamped(this.stored.a(seconds));
    if (path === '/stored/b') return timestamped(this.stored.b(seconds));
    if (path === '/instance') return nodeLines('', seconds, 10).replaceAll('node="",', '');
    return Object.entries(PERCENTS)
      .map(([node, percent]) => nodeLines(node, seconds, percent))
      .join('');
  }
}

function joined(texts: Record<string, Text>, seconds: number): string {
  return Object.values(texts)
    .map((text) => text(seconds))
    .join('');
}

/** Lines of a node that sends a percent of SPEED. */
export function nodeLines(
  node: string,
  seconds: number,
  percent: number,
  facts: { speed?: number; total?: number } = {},
): string {
  const total = 1e9 + (seconds * SPEED * percent) / 100;
  return deviceLines({ node, device: 'eth0' }, { total, speed: SPEED, flags: 4163, ...facts });
}

/** Servers of three kinds that scrape the same exporter. */
export interface ServersWorld {
  /** URLs of those that give each series once. */
  readonly servers: Readonly<Record<'Prometheus' | 'VictoriaMetrics' | 'Thanos Query', string>>;
  readonly thanos: ThanosPair;
  readonly texts: Texts;
  stop(): Promise<void>;
}

/**
 * Starts a Prometheus, a VictoriaMetrics, and a Thanos over an HA pair. Each scrapes, from one exporter:
 *
 * - job `nodes`: the nodes of PERCENTS, by the label `node`
 * - job `changing`: nodes at 10 % that change
 * - job `falling`: nodes whose counters fall, with timestamps
 * - job `instances`: a node at 10 %, by the label `instance` only
 *
 * The first two also scrape what has a label `replica`, as if two Prometheus had written to one store:
 *
 * - job `pair`: the nodes of PERCENTS
 * - job `stored`: the node `stored`, with timestamps
 */
export async function startServersWorld(): Promise<ServersWorld> {
  const texts = new Texts();
  const exporter = await startTextExporter();
  exporter.text = (seconds, path) => texts.at(path, seconds);
  const job = (job_name: string, metrics_path: string, targets: readonly Record<string, string>[]): object => {
    const static_configs = targets.map((labels) => ({ targets: [exporter.address], labels }));
    return { job_name, metrics_path, static_configs, honor_labels: true, honor_timestamps: true };
  };
  const global = { scrape_interval: SCRAPE_INTERVAL, scrape_timeout: SCRAPE_INTERVAL };
  const jobs = [
    job('nodes', '/nodes', [{}]),
    job('changing', '/changing', [{}]),
    job('instances', '/instance', [{ instance: '10.0.0.1:9100' }]),
  ];
  const falling = job('falling', '/falling', [{}]);
  const replicas = ['a', 'b'].map((replica) => ({ replica, instance: 'stored' }));
  const pair = job('pair', '/nodes', replicas);
  const stored = job(
    'stored',
    '/stored',
    replicas.map((labels) => ({ ...labels, __metrics_path__: `/stored/${labels.replica}` })),
  );
  const timed = [falling, stored].map((each) => ({ ...each, ...STOPS_SILENTLY }));
  const [prometheus, victoriaMetrics, thanos] = await Promise.all([
    startPrometheus({ config: { global, scrape_configs: [...jobs, falling, pair, stored] } }),
    startVictoriaMetrics({ config: { global, scrape_configs: [...jobs, pair, ...timed] } }),
    startThanosPair({ global, scrape_configs: [...jobs, falling] }),
  ]);
  const stop = async (): Promise<void> => {
    await Promise.all([prometheus, victoriaMetrics, thanos, exporter].map((each) => each.stop()));
  };
  const servers = {
    Prometheus: prometheus.url,
    VictoriaMetrics: victoriaMetrics.url,
    'Thanos Query': thanos.deduplicatedUrl,
  };
  return { servers, thanos, texts, stop };
}
