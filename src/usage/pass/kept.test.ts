import { expect, it } from 'vitest';
import type { ReadingFigures } from '../evaluate/snapshot.ts';
import { missingPasses } from './history.ts';

const FIGURES: ReadingFigures = { nodes: new Map(), warnings: [] };
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
