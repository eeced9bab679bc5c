import type { NodeRow } from '../scenario/watch.ts';

const COLUMNS = ['NODE', 'BANDWIDTH %', 'VERDICT', 'LABEL unfit=', 'PODS OF THE WATCH'] as const;

function percent(text: string): string {
  return text === '' ? '?' : Number(text).toFixed(2);
}

function cells(row: NodeRow): string[] {
  return [row.node, percent(row.percent), row.verdict || '-', row.label || '-', row.pods.join(' ') || '-'];
}

/** Formats the rows as aligned text, one line each, below the column names. */
export function formatTable(rows: readonly NodeRow[]): string[] {
  const lines = [[...COLUMNS], ...rows.map(cells)];
  const widths = COLUMNS.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  return lines.map((line) => `  ${line.map((cell, i) => cell.padEnd(widths[i]!)).join('   ')}`.trimEnd());
}

/** Cuts a line where a terminal would wrap it. The cursor moves up by rows, and a wrapped line takes several rows. */
function fit(line: string, columns: number | undefined): string {
  if (columns === undefined || line.length <= columns) return line;
  return `${line.slice(0, columns - 1)}…`;
}

/** The output of a table. A terminal is redrawn; any other output gets a new table when a verdict changes. */
export interface Screen {
  readonly isTTY: boolean;
  /** Width of the terminal in characters; undefined if unknown. */
  readonly columns?: number | undefined;
  write(text: string): void;
}

/** Shows one table after the other. Changes of figures alone are shown only on a terminal, so that a log stays short. */
export class LiveTable {
  readonly #screen: Screen;
  /** The newest table, if the next one replaces it. */
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

  /** Keeps the shown table, with its full rows. The next table starts below it. */
  keep(): void {
    if (this.#screen.isTTY && this.#shown.length > 0) this.#screen.write(`${this.#up()}${this.#shown.join('\n')}\n\n`);
    this.#shown = [];
    this.#turned = '';
  }

  #redraw(lines: readonly string[]): void {
    const cut = lines.map((line) => fit(line, this.#screen.columns));
    this.#screen.write(`${this.#up()}${cut.join('\n')}\n`);
    this.#shown = lines;
  }

  /** Moves the cursor to the start of the table, one row for each line, and clears everything below. */
  #up(): string {
    return this.#shown.length > 0 ? `\x1b[${this.#shown.length}A\x1b[J` : '';
  }
}
