import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allPlaces, countsOf, PATTERNS, placesIn, type Area } from './wording/wording.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** How often each pattern may occur at most. The numbers only become smaller; at 0 a pattern is refused. */
const MOST = JSON.parse(readFileSync(new URL('wording/most.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<Area, number>
>;

describe('twisted English', () => {
  const places = allPlaces(ROOT);
  const counts = countsOf(places);

  it.each(PATTERNS)(
    '$name: occurs no more often than before (write: $write; see node scripts/wording.ts)',
    ({ name }) => {
      for (const [area, most] of Object.entries(MOST[name]!)) {
        expect([area, counts[name]![area as Area]]).toEqual([area, Math.min(most, counts[name]![area as Area])]);
      }
    },
  );
});

it.each([
  ['Whoever it is: somebody else.', 'somebody else'],
  ['the label and that of the node', 'that of'],
  ['another one waits', 'another one'],
  ['in place of a Deployment', 'in place of'],
  ['It starts anew.', 'anew'],
  ['beside the stack', 'beside'],
  ['people are told', 'is told'],
  ['It tells that a pod waits.', 'is told'],
  ['It does not run any more.', 'any more'],
  ['The label stays as it is.', 'stays as it is'],
  ['The node waits, too.', 'too, at the end'],
  ['/** Of a node. */', 'a doc comment without a subject'],
  ['/**\n * Those that wait. */', 'a doc comment without a subject'],
])('%j has the pattern %s', (text, name) => {
  expect(placesIn(text, 'a.ts', 'src').map(({ pattern }) => pattern)).toEqual([name]);
});

it.each(['no more than two', 'There is too much.', 'besides the node', '/** Offers a node. */', '/** Whatever. */'])(
  '%j has none',
  (text) => {
    expect(placesIn(text, 'a.ts', 'src')).toEqual([]);
  },
);

it('a place has the line of its text', () => {
  expect(placesIn('one\n two anew\n', 'a.md', 'docs')).toEqual([
    { area: 'docs', pattern: 'anew', at: 'a.md:2: two anew' },
  ]);
});
