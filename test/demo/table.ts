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

/** The line, cut where a terminal would wrap it: the cursor goes back by rows, and a wrapped line takes several. */
function fit(line: string, columns: number | undefined): string {
  if (columns === undefined || line.length <= columns) return line;
  return `${line.slice(0, columns - 1)}…`;
}

/** What a table is shown on: a terminal is redrawn, anything else gets a new table when something turned. */
export interface Screen {
  readonly isTTY: boolean;
  /** Width of a terminal in characters; undefined where it is not known. */
  readonly columns?: number | undefined;
  write(text: string): void;
}

/** Shows tables that follow one another; figures alone move on a terminal only, so that a log stays short. */
export class LiveTable {
  readonly #screen: Screen;
  /** The newest table, as long as the next one takes its place. */
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

  /** The next table starts below; what is shown stays, with its rows in full. */
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

  /** Goes back to where the table began, a row of the terminal for each of its lines, and clears what is below. */
  #up(): string {
    return this.#shown.length > 0 ? `\x1b[${this.#shown.length}A\x1b[J` : '';
  }
}
