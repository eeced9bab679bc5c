import type { Result } from './figure.ts';
import type { Summary } from './statistics.ts';

const COLUMNS = ['measured', 'min', 'median', 'max', 'goal', 'limit', 'ratio', 'goal', 'met'] as const;

/** Results as a Markdown table, which is also readable on a terminal. */
export function renderTable(results: readonly Result[]): string {
  return renderRows([COLUMNS, ...results.map(rowOf)]);
}

/** A Markdown table. The first row is the head; the first column is on the left, all others on the right. */
export function renderRows(rows: readonly (readonly string[])[]): string {
  const head = rows[0] ?? [];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.slice(1).map(line)].join('\n');
}

function rowOf({ what, unit, summary, atMost, limit, ratio, met }: Result): string[] {
  const { min, median, max } = texts(summary);
  return [
    `${what}, ${unit}`,
    min,
    median,
    max,
    atMost === undefined ? '' : `≤ ${number(atMost)}`,
    limit === undefined ? '' : `${limit.what}: ${number(limit.summary.median)}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    limit?.atMostTimes === undefined ? '' : `≤ ${limit.atMostTimes}`,
    met === undefined ? '' : met ? 'yes' : '**no**',
  ];
}

function texts({ min, median, max }: Summary): { min: string; median: string; max: string } {
  return { min: number(min), median: number(median), max: number(max) };
}

/** Three significant digits; more would be noise. */
export function number(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
