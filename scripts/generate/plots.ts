import { LineChart, type LineSeriesOption } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Machine } from '../../test/bench/machine.ts';
import type { Effort } from '../../test/bench/effort.ts';
import type { Result } from '../../test/bench/figure.ts';

use([LineChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

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
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT });
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: { text: title, textStyle: { fontSize: 14 } },
    legend: { bottom: 0 },
    grid: { left: 50, right: 30, top: 40, bottom: 60 },
    xAxis: { type: 'value', name: xName, nameLocation: 'middle', nameGap: 22 },
    yAxis: { type: 'value', min: 0 },
    series,
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return `${svg}\n`;
}
