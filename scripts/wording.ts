import { fileURLToPath } from 'node:url';
import { allPlaces, PATTERNS } from './wording/wording.ts';

/**
 * Prints the places with twisted English, and what to write instead. A part of the level lint.
 *
 *   node scripts/wording.ts
 *
 * Exit status: 1 if there is one.
 */
const writes = new Map(PATTERNS.map(({ name, write }) => [name, write]));
for (const { at, pattern } of allPlaces(fileURLToPath(new URL('../', import.meta.url)))) {
  process.stdout.write(`${at}\n  ${pattern}: write ${writes.get(pattern)}\n`);
  process.exitCode = 1;
}
