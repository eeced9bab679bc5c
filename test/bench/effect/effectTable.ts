import type { Summary } from '../statistics.ts';
import { number, renderRows } from '../table.ts';
import { P99_AT_MOST_TIMES, summarizeRun, type ScenarioSummary } from './summary.ts';
import type { EffectRun, Scenario } from './measurement.ts';

const columnsOf = (fullNode: string): string[] => [
  'scenario',
  `replicas on ${fullNode}`,
  'p50, ms',
  'p99, ms',
  'p99 / idle',
  'p99 / by hand',
  `goal ≤ ${P99_AT_MOST_TIMES}`,
  'max, ms',
  'answered per s',
  'failed',
  'failed in the roll',
  'slowest download, Mbit/s',
];

/** As the page calls them. */
export const TITLES: Readonly<Record<Scenario, string>> = {
  idle: 'idle cluster',
  default: 'full link, default scheduling',
  'by hand': 'full link, kept off by hand',
  Preferred: 'full link, Preferred',
  Required: 'full link, Required',
};

/** A run as a Markdown table, one line for each scenario, which is also readable on a terminal. */
export function renderEffect(run: Pick<EffectRun, 'measurements' | 'fullNode'>): string {
  return renderRows([columnsOf(run.fullNode), ...summarizeRun(run).map(rowOf)]);
}

function rowOf(summary: ScenarioSummary): string[] {
  const { scenario, onFullNode, p50, p99, ratio, ratioByHand, met, max, answeredPerSecond, slowestDownload } = summary;
  return [
    TITLES[scenario],
    onFullNode.join(', '),
    spread(p50),
    spread(p99),
    ratio === undefined ? '' : ratio.toFixed(2),
    ratioByHand === undefined ? '' : ratioByHand.toFixed(2),
    met === undefined ? '' : met ? 'yes' : '**no**',
    spread(max),
    spread(answeredPerSecond),
    `${summary.failed} of ${summary.due}`,
    String(summary.failedBefore),
    spread(slowestDownload),
  ];
}

/** The same in sentences, without the idle cluster. */
export function renderConclusion(run: Pick<EffectRun, 'measurements' | 'fullNode'>): string {
  const sentences = summarizeRun(run).flatMap(({ scenario, onFullNode, p99, ratio, ratioByHand }) => {
    if (ratio === undefined) return [];
    const most = Math.max(...onFullNode);
    const where = most === 0 ? 'no replica was on the full node' : `up to ${most} replicas were on the full node`;
    const limit =
      ratioByHand === undefined ? '' : `, ${ratioByHand.toFixed(2)} times as long as with pods kept off by hand`;
    return `- **${TITLES[scenario]}**: ${where}; p99 ${number(p99.median)} ms, ${ratio.toFixed(2)} times as long as on the idle cluster${limit}.`;
  });
  return sentences.join('\n');
}

/** '1.20 (1.10 to 1.31)': the median, the least and the most of the repetitions. */
function spread({ min, median, max }: Summary): string {
  return min === max ? number(median) : `${number(median)} (${number(min)} to ${number(max)})`;
}
