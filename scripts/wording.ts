import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { allPlaces, AREAS, countsOf, PATTERNS, type Area } from './wording/wording.ts';

/**
 * Prints how often patterns of twisted English occur.
 *
 *   node scripts/wording.ts                   counts, and what to write instead
 *   node scripts/wording.ts --places anew     the places of one pattern
 *   node scripts/wording.ts --record          lets the test refuse more than there are now
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({ options: { places: { type: 'string' }, record: { type: 'boolean' } } });
const places = allPlaces(ROOT);
if (values.record === true) {
  writeFileSync(new URL('wording/most.json', import.meta.url), `${JSON.stringify(countsOf(places), null, 2)}\n`);
} else if (values.places === undefined) {
  const areas = Object.keys(AREAS) as Area[];
  const counts = countsOf(places);
  process.stdout.write(`${areas.map((area) => area.padStart(10)).join('')}\n`);
  for (const { name, write } of PATTERNS) {
    const row = areas.map((area) => String(counts[name]![area]).padStart(10)).join('');
    process.stdout.write(`${row}  ${name} -> ${write}\n`);
  }
} else {
  for (const { at } of places.filter(({ pattern }) => pattern === values.places)) process.stdout.write(`${at}\n`);
}
