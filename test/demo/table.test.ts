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

describe('formatTable', () => {
  it('aligns the columns and shows what is not known as such, never as 0', () => {
    expect(formatTable([row('1.25e+01'), { node: 'n2', percent: '', verdict: '', label: '', pods: [] }])).toEqual([
      '  NODE    BANDWIDTH %   VERDICT   LABEL unfit=   PODS OF THE WATCH',
      '  node1   12.50         Fit       false          web-1',
      '  n2      ?             -         -              -',
    ]);
  });
});

describe('LiveTable', () => {
  it('without a terminal prints only when something turned', () => {
    const s = screen(false);
    const table = new LiveTable(s);
    table.show([row('1')]);
    table.show([row('2')]);
    expect(s.written).toHaveLength(1);
    table.show([row('90', 'Unfit')]);
    expect(s.written).toHaveLength(2);
    expect(s.written.join('')).not.toContain('\x1b');
  });

  it('on a terminal takes the place of the table before', () => {
    const s = screen(true);
    const table = new LiveTable(s);
    table.show([row('1')]);
    table.show([row('2')]);
    expect(s.written[1]).toMatch(/^\x1b\[2A\x1b\[J/);
    table.keep();
    table.show([row('3')]);
    expect(s.written.at(-1)).not.toContain('\x1b');
  });
});
