import { describe, expect, it } from 'vitest';
import { formatTable, LiveTable } from './table.ts';

const row = (percent: string, verdict = 'Fit') => ({
  node: 'node1',
  percent,
  verdict,
  label: 'false',
  pods: ['web-1'],
});

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, write: (text: string) => void written.push(text) };
}

const PODS = ['web-6f7c9d5b8-x2x4z', 'web-6f7c9d5b8-q9k7m', 'web-6f7c9d5b8-bbt5w'];
const long = (percent: string) => ({ ...row(percent), pods: PODS });

/** The parts of a terminal that the table uses: it wraps lines, moves the cursor up, and clears below it. */
class Terminal {
  readonly isTTY = true;
  readonly columns: number;
  #rows: string[] = [''];
  #at = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    for (const [part] of text.matchAll(/\x1b\[(\d+)A|\x1b\[J|\n|./g)) this.#take(part);
  }

  #take(part: string): void {
    if (part.endsWith('A') && part.startsWith('\x1b'))
      this.#at = Math.max(0, this.#at - Number.parseInt(part.slice(2)));
    else if (part === '\x1b[J') this.#rows = [...this.#rows.slice(0, this.#at), ''];
    else if (part === '\n') this.#newRow();
    else this.#put(part);
  }

  #put(character: string): void {
    if ((this.#rows[this.#at] ?? '').length === this.columns) this.#newRow();
    this.#rows[this.#at] = (this.#rows[this.#at] ?? '') + character;
  }

  #newRow(): void {
    this.#at += 1;
    this.#rows[this.#at] ??= '';
  }

  /** The visible rows, without empty ones. */
  rows(): string[] {
    return this.#rows.filter((line) => line !== '');
  }
}

describe('formatTable', () => {
  it('aligns the columns, and shows unknown values as unknown, never as 0', () => {
    expect(formatTable([row('1.25e+01'), { node: 'n2', percent: '', verdict: '', label: '', pods: [] }])).toEqual([
      '  NODE    BANDWIDTH %   VERDICT   LABEL unfit=   PODS OF THE WATCH',
      '  node1   12.50         Fit       false          web-1',
      '  n2      ?             -         -              -',
    ]);
  });
});

describe('LiveTable', () => {
  it('without a terminal prints a table only when a verdict changes', () => {
    const s = screen(false);
    const table = new LiveTable(s);
    table.show([row('1')]);
    table.show([row('2')]);
    expect(s.written).toHaveLength(1);
    table.show([row('90', 'Unfit')]);
    expect(s.written).toHaveLength(2);
    expect(s.written.join('')).not.toContain('\x1b');
  });

  it('on a terminal replaces the previous table', () => {
    const s = screen(true);
    const table = new LiveTable(s);
    table.show([row('1')]);
    table.show([row('2')]);
    expect(s.written[1]).toMatch(/^\x1b\[2A\x1b\[J/);
    table.keep();
    table.show([row('3')]);
    expect(s.written.at(-1)).not.toContain('\x1b');
  });

  it('leaves no old text on 80 columns, although a row with two pods is longer', () => {
    const terminal = new Terminal(80);
    const table = new LiveTable(terminal);
    for (const percent of ['1', '2', '3']) table.show([long(percent), row(percent)]);
    const [header, cut, short] = terminal.rows();
    expect(header).toContain('PODS OF THE WATCH');
    expect(cut).toMatch(/^ {2}node1 {3}3\.00 .*…$/);
    expect(cut).toHaveLength(80);
    expect(short).toContain('web-1');
    expect(terminal.rows()).toHaveLength(3);
  });

  it('shows the final table in full, and the next table below it', () => {
    const terminal = new Terminal(80);
    const table = new LiveTable(terminal);
    table.show([long('1')]);
    table.keep();
    table.show([row('2')]);
    const rows = terminal.rows();
    expect(rows.filter((line) => line.includes('NODE'))).toHaveLength(2);
    expect(rows.join('')).toContain(PODS.join(' '));
    expect(rows.at(-1)).toContain('2.00');
  });
});
