import { Gauge, type Registry } from 'prom-client';
import { PLANES } from '../../../api/connectivitycheck/terms.ts';
import { Turns } from '../../../runtime/process/turns.ts';
import { silentBudgets, type CreateBudget } from '../../../runtime/manager/seriesBudget.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Steps } from '../../localise/steps.ts';
import type { Connectivity, Evaluated } from './evaluations.ts';
import { nodeFigures, pairFigures, type NodeFigures, type PairFigures } from './nodeFigures.ts';
import { RecentInTurns } from '../view/recent.ts';

const PREFIX = 'traffic_operator_connectivity_';
/** How long values are kept, so that the gauges of one scrape share them, ms. */
const KEPT_MS = 1_000;

/** ConnectivityChecks with a series within three hours. */
const MOST_CHECKS = { ofOwner: 100, ofAll: 200 };

interface Figures {
  readonly nodes: readonly NodeFigures[];
  readonly pairs: readonly PairFigures[];
}

interface Sample {
  readonly labels: Record<string, string>;
  readonly value: number;
}

/**
 * Registers the metrics of the evaluation. Each scrape computes the values, so that the series of a node end with the node.
 * Without a result there is no series: a 0 that was not measured would look like a measured 0.
 *
 * Series of one node, which has two agents, at any number of nodes:
 *
 * | metrics | series |
 * |---|---|
 * | ncagent_report_count_total, ncagent_error_count_total | 2 agents x 2 = 4 |
 * | ncagent_http_probe_*, 8 metrics, for up to MOST_URLS = 2 URLs (metrics.ts) | 2 agents x 8 x 2 = 32 |
 * | loss_ratio, latency_seconds | 2 planes x 2 = 4 |
 * | sum | 40 |
 */
export function registerEvaluationMetrics(
  registry: Registry,
  source: Pick<Connectivity, 'evaluated' | 'views' | 'silentAgents'>,
  clock: Clock,
  createBudget: CreateBudget = silentBudgets,
): void {
  const budget = createBudget('check', MOST_CHECKS);
  const figures = new RecentInTurns<Figures>(clock, KEPT_MS, async () =>
    new Turns().run(figuresOf(source, await source.evaluated())),
  );
  const gauge = gaugesOf(registry);
  const ofNodes = ['node', 'plane'];
  gauge('loss_ratio', 'Share of lost datagrams from and to the node, 0 to 1.', ofNodes, async () =>
    byNode((await figures.get()).nodes, ({ lossRatio }) => lossRatio),
  );
  gauge('latency_seconds', 'Median round trip of the pairs from and to the node.', ofNodes, async () =>
    byNode((await figures.get()).nodes, ({ latencySeconds }) => latencySeconds),
  );
  gauge('covered_pairs', 'Ordered pairs of nodes in the last reports.', ['plane'], async () =>
    (await figures.get()).pairs.map(({ plane, covered }) => ({ labels: { plane }, value: covered })),
  );
  gauge(
    'failed_pairs',
    'Ordered pairs of nodes between which neither TCP nor UDP gets through, to one of the addresses at least.',
    ['plane'],
    async () => (await figures.get()).pairs.map(({ plane, failed }) => ({ labels: { plane }, value: failed })),
  );
  gauge('reporting_agents', 'Agents on the nodes of a check with a current report.', ['check'], async () => {
    const { results } = await source.evaluated();
    const placed = budget.show(
      'checks',
      Array.from(results.keys(), (id) => ({ owner: '', id })),
    );
    return [...results]
      .filter(([check]) => placed.has(check))
      .map(([check, { counts }]) => ({ labels: { check }, value: counts.reportingAgents }));
  });
  gauge(
    'silent_agents',
    'Agents that should report and have not done so for two of their intervals. Without nodes that come, go or are not Ready.',
    ['plane'],
    () => {
      const silent = source.silentAgents();
      return silent === undefined ? [] : PLANES.map((plane) => ({ labels: { plane }, value: silent[plane] }));
    },
  );
  gauge('evaluation_duration_seconds', 'Duration of the last evaluation of all checks.', [], async () => {
    const { results, seconds } = await source.evaluated();
    return results.size === 0 ? [] : [{ labels: {}, value: seconds }];
  });
}

function* figuresOf(source: Pick<Connectivity, 'views'>, evaluated: Evaluated): Steps<Figures> {
  const views = yield* source.views(evaluated);
  return { nodes: yield* nodeFigures(views), pairs: yield* pairFigures(views) };
}

function byNode(nodes: readonly NodeFigures[], of: (figures: NodeFigures) => number | undefined): Sample[] {
  return nodes.flatMap((figures) => {
    const value = of(figures);
    return value === undefined ? [] : [{ labels: { node: figures.node, plane: figures.plane }, value }];
  });
}

function gaugesOf(registry: Registry) {
  return (name: string, help: string, labelNames: string[], samples: () => Sample[] | Promise<Sample[]>): void => {
    const metric = new Gauge({ name: `${PREFIX}${name}`, help, labelNames, registers: [registry] });
    const get = metric.get.bind(metric);
    metric.get = async () => ({ ...(await get()), values: await samples() });
  };
}
