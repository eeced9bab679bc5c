import { expect, it } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import type { Readings } from '../evaluate/reading.ts';
import type { ReadingFigures, Snapshot } from '../evaluate/snapshot.ts';
import { History, missingPasses, type Past, type ReadPast } from './history.ts';

const INTERVAL_MS = 10_000;
const PASSES = 30;
const FIGURES: ReadingFigures = { nodes: new Map(), warnings: [] };
const PAST: Past = {
  ...{ ok: true, nodes: new Map(), warnings: [] },
  ...{ unmatchedSeries: 0, unmatchedExamples: [], ambiguousSeries: 0, ambiguousExamples: [] },
};
const figuresOf = (readings: Readings): Past => ({
  ...PAST,
  readings: new Map([...readings.keys()].map((key) => [key, FIGURES])),
});

it('reads what a TrafficWatch needs although another has a new reading in each pass', async () => {
  const history = new History({
    ...{ clock: new FakeClock(), intervalMs: INTERVAL_MS, deadlineMs: 8_000, logger: createLogger('silent') },
  });
  const readPast: ReadPast = (_startedAt, _deadline, readings) => Promise.resolve(figuresOf(readings));
  const passOf = (pass: number, past: Past): Snapshot => ({ ...past, pass, startedAt: pass * INTERVAL_MS });
  let passes = Array.from({ length: PASSES }, (_, place) => passOf(PASSES - place, PAST));
  const lacking = (): number => passes.filter(({ readings }) => readings?.has('steady') !== true).length;
  for (let round = 1; round <= PASSES / 2; round++) {
    const readings: Readings = new Map(['steady', `edited ${round}`].map((key) => [key, { direction: 'Receive' }]));
    history.read(passes, { readings, passesOf: () => PASSES }, readPast, new AbortController().signal);
    await history.settled();
    passes = [passOf(PASSES + round, figuresOf(readings)), ...history.complete(passes)].slice(0, PASSES);
  }
  expect(lacking()).toBe(0);
});

const READING = { direction: 'Receive' } as const;

it.each<[why: string, figures: ReadingFigures | undefined, missing: number[]]>([
  ['has the figures', FIGURES, []],
  ['was not asked for them', undefined, [2]],
  ['had no time for them', { ...FIGURES, hadNoTime: true }, [2]],
])('a kept pass that %s', (_why, figures, missing) => {
  const passes = [3, 2, 1].map((pass) => {
    const readings = pass === 2 && figures === undefined ? new Map() : new Map([['key', figures ?? FIGURES]]);
    return { pass, startedAt: pass * 10_000, ok: true, readings };
  });
  const asked = { readings: new Map([['key', READING]]), passesOf: () => 3 };
  expect(missingPasses(passes, asked, 10_000).map(({ pass }) => pass)).toEqual(missing);
});
