import { afterEach, expect, it, vi } from 'vitest';
import { resultOf } from '../figure.ts';
import { failIfMissed } from '../goals.ts';
import { figuresOf, type Measured } from './figures.ts';

const GOOD: Measured = {
  ...{ ingresses: 5_000, quietSeconds: 60, empty: 1, cpu: [1, 1, 1], memory: [1, 1, 1] },
  ...{ took: [1_300, 1_300, 9_000], bare: [1_000, 1_000, 1_000], quiet: [0, 0, 0] },
};
const before = process.exitCode;
afterEach(() => {
  process.exitCode = before;
  vi.restoreAllMocks();
});

/** The output of `make bench-weights`, and its exit status. */
function ended(measured: Partial<Measured>): [text: string, status: unknown] {
  const print = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  failIfMissed(figuresOf({ ...GOOD, ...measured }).map(resultOf), { cores: 2 });
  return [print.mock.calls.flat().join('\n'), process.exitCode];
}

it('ends well if the median change takes 1.3 times the PATCHes alone, without a write in any quiet minute', () => {
  expect(ended({})).toEqual(['', before]);
});

it.each<[string, Partial<Measured>, string]>([
  ['the median change takes more', { took: [1_301, 1_301, 1_000] }, 'a changed weight is in the DNSEndpoints'],
  ['there is one write in one of the quiet minutes', { quiet: [0, 1, 0] }, 'writes in a quiet 60 s'],
])('ends with status 1, and says so, if %s', (_, measured, figure) => {
  const [text, status] = ended(measured);
  expect(status).toBe(1);
  expect(text).toMatch(/not met:/);
  expect(text).toContain(figure);
});
