import { BarChart, LineChart, type BarSeriesOption, type LineSeriesOption } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Machine } from '../../test/bench/machine.ts';
import type { Effort } from '../../test/bench/effort.ts';
import { TITLES } from '../../test/bench/effect/effectTable.ts';
import type { ScenarioSummary } from '../../test/bench/effect/summary.ts';
import type { Result } from '../../test/bench/figure.ts';
import type { Summary } from '../../test/bench/statistics.ts';
import { number } from '../../test/bench/table.ts';

use([BarChart, LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** The result of one run of `make bench`. */
export interface BenchRun extends Machine {
  readonly command: string;
  readonly nodes: number;
  readonly effort: Effort;
  readonly results: readonly Result[];
}

/** The result of `make soak-memory`. */
export interface SoakRun extends Machine {
  readonly command: string;
  readonly nodes: number;
  readonly minutes: number;
  readonly result: Result;
  /** At the end of each minute. */
  readonly residentMiB: readonly number[];
}

export interface Plot {
  /** File name without extension. */
  readonly name: string;
  readonly svg: string;
}

/** The figures with a plot over the number of nodes, by id. */
const PLOTTED = {
  start: { id: 'start.synced', title: 'Start to synced caches' },
  labelling: { id: 'labelling.all', title: 'First labelling of all nodes' },
  pass: { id: 'steady.p99', title: 'Steady pass, 99th percentile' },
  memory: { id: 'memory.resident', title: 'Resident memory' },
} as const;
const WIDTH = 420;
const HEIGHT = 280;
const EFFECT_WIDTH = 640;
/** Below what an idle cluster takes: ms. */
const EFFECT_LEAST = 0.1;

/** One plot per figure: its median, and its limit if it has one, over the number of nodes. */
export function renderPlots(runs: readonly BenchRun[]): Plot[] {
  return Object.entries(PLOTTED).flatMap(([name, { id, title }]) => {
    const points = runs.flatMap(({ nodes, results }) => {
      const result = results.find((each) => each.id === id);
      return result === undefined ? [] : [{ nodes, result }];
    });
    return points.length === 0 ? [] : [{ name, svg: render(title, points) }];
  });
}

/** Resident memory over the minutes of a soak test. */
export function renderSoak({ residentMiB }: SoakRun): Plot {
  const data = residentMiB.map((resident, index) => [index + 1, resident]);
  const lines: LineSeriesOption[] = [{ name: 'operator', type: 'line', showSymbol: false, data }];
  return { name: 'soak', svg: draw('Resident memory (MiB)', 'minutes', lines) };
}

/** p50 and p99 of each scenario on a logarithmic scale: a full link costs more than ten times as much. */
export function renderEffectPlot(summaries: readonly ScenarioSummary[]): string {
  const bars = (name: string, of: (summary: ScenarioSummary) => Summary): BarSeriesOption => ({
    name,
    type: 'bar',
    data: summaries.map((summary) => of(summary).median),
    label: { show: true, position: 'top', formatter: ({ value }) => number(value as number) },
  });
  return svgOf(EFFECT_WIDTH, {
    title: titleOf('Latency while the link of one node is full (ms)'),
    legend: { bottom: 0 },
    grid: { left: 50, right: 30, top: 50, bottom: 60 },
    xAxis: { type: 'category', data: summaries.map(({ scenario }) => TITLES[scenario].replace(', ', ',\n')) },
    yAxis: { type: 'log', min: EFFECT_LEAST, startValue: EFFECT_LEAST },
    series: [bars('p50', ({ p50 }) => p50), bars('p99', ({ p99 }) => p99)],
  });
}

interface Point {
  readonly nodes: number;
  readonly result: Result;
}

function render(title: string, points: readonly Point[]): string {
  const { unit, limit } = points[0]!.result;
  const lines: LineSeriesOption[] = [
    { name: 'operator', type: 'line', data: points.map(({ nodes, result }) => [nodes, result.summary.median]) },
  ];
  if (limit !== undefined) {
    const data = points.map(({ nodes, result }) => [nodes, result.limit?.summary.median]);
    lines.push({ name: limit.what, type: 'line', data, lineStyle: { type: 'dashed' } });
  }
  return draw(`${title} (${unit})`, 'nodes', lines);
}

function draw(title: string, xName: string, series: LineSeriesOption[]): string {
  return svgOf(WIDTH, {
    title: titleOf(title),
    legend: { bottom: 0 },
    grid: { left: 50, right: 30, top: 40, bottom: 60 },
    xAxis: { type: 'value', name: xName, nameLocation: 'middle', nameGap: 22 },
    yAxis: { type: 'value', min: 0 },
    series,
  });
}

const titleOf = (text: string): object => ({ text, textStyle: { fontSize: 14 } });

function svgOf(width: number, option: EChartsCoreOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height: HEIGHT });
  chart.setOption({ animation: false, backgroundColor: '#fff', ...option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}
