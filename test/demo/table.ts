import type { NodeRow } from '../scenario/watch.ts';

const COLUMNS = ['NODE', 'BANDWIDTH %', 'VERDICT', 'LABEL unfit=', 'PODS OF THE WATCH'] as const;

function percent(text: string): string {
  return text === '' ? '?' : Number(text).toFixed(2);
}

function cells(row: NodeRow): string[] {
  return [row.node, percent(row.percent), row.verdict || '-', row.label || '-', row.pods.join(' ') || '-'];
}

/** The rows as aligned text, a line each, headed by the column names. */
export function formatTable(rows: readonly NodeRow[]): string[] {
  const lines = [[...COLUMNS], ...rows.map(cells)];
  const widths = COLUMNS.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines.map((line) => `  ${line.map((cell, i) => cell.padEnd(widths[i]!)).join('   ')}`.trimEnd());
}

/** What a table is shown on: a terminal is redrawn, anything else gets a new table when something turned. */
export interface Screen {
  readonly isTTY: boolean;
  write(text: string): void;
}

/** Shows tables that follow one another; figures alone move on a terminal only, so that a log stays short. */
export class LiveTable {
  readonly #screen: Screen;
  #shown: readonly string[] = [];
  #turned = '';

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(rows: readonly NodeRow[]): void {
    const lines = formatTable(rows);
    const turned = JSON.stringify(rows.map((r) => [r.node, r.verdict, r.label, r.pods]));
    if (this.#screen.isTTY) this.#redraw(lines);
    else if (turned !== this.#turned) this.#screen.write(`${lines.join('\n')}\n\n`);
    this.#turned = turned;
  }

  /** The next table starts below; what is shown stays. */
  keep(): void {
    if (this.#screen.isTTY && this.#shown.length > 0) this.#screen.write('\n');
    this.#shown = [];
    this.#turned = '';
  }

  #redraw(lines: readonly string[]): void {
    const up = this.#shown.length > 0 ? `\x1b[${this.#shown.length}A\x1b[J` : '';
    this.#screen.write(`${up}${lines.join('\n')}\n`);
    this.#shown = lines;
  }
}
