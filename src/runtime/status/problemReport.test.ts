import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { ProblemReport } from './problemReport.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'operator', uid: 'u' };
const FOREIGN = { reason: 'ForeignObject', object: 'Service op/prometheus', message: 'is not ours' };

function report(): { report: ProblemReport; events: unknown[]; lines: string[]; counts: number[] } {
  const events: unknown[] = [];
  const lines: string[] = [];
  const counts: number[] = [];
  const logger = pino({ base: null }, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const recorder = { event: (...args: unknown[]) => void events.push(args) };
  const made = new ProblemReport({
    name: 'measurement',
    action: 'Measure',
    namespace: 'op',
    logger,
    recorder,
    onChange: (count) => void counts.push(count),
  });
  made.about = OWNER;
  return { report: made, events, lines, counts };
}

describe('ProblemReport', () => {
  it('logs once when a problem begins, and once when it is resolved', () => {
    const { report: it, events, lines, counts } = report();
    it.update('components', [FOREIGN]);
    it.update('components', [{ ...FOREIGN, message: 'is still not ours' }]);
    it.update('components', []);
    expect(lines).toEqual(['measurement problem', 'measurement problem resolved']);
    expect(counts).toEqual([1, 1, 0]);
    const about = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'operator', uid: 'u', namespace: 'op' },
    };
    expect(events).toEqual([[about, 'Warning', 'ForeignObject', 'is not ours', 'Measure']]);
  });

  it('keeps what the two passes find apart', () => {
    const { report: it, lines } = report();
    it.update('components', [FOREIGN]);
    it.update('targets', []);
    expect(it.current).toEqual([FOREIGN]);
    expect(lines).toEqual(['measurement problem']);
  });

  it('reports problems that persist once more when it is asked to', () => {
    const { report: it, events, lines } = report();
    it.update('components', [FOREIGN]);
    it.tellAgain();
    it.update('components', [FOREIGN]);
    it.update('components', [FOREIGN]);
    expect(lines).toEqual(['measurement problem', 'measurement problem']);
    expect(events).toHaveLength(2);
  });

  it('does not report a resolved problem once more', () => {
    const { report: it, lines } = report();
    it.update('components', [FOREIGN]);
    it.tellAgain();
    it.update('components', []);
    expect(lines).toEqual(['measurement problem', 'measurement problem resolved']);
  });

  it('writes no event where there is no Deployment that it could be about', () => {
    const { report: it, events } = report();
    it.about = undefined;
    it.update('components', [FOREIGN]);
    expect(events).toEqual([]);
  });
});
