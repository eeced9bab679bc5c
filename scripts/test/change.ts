/**
 * Prints the levels that are needed, for `make test ONLY=...`; says on stderr what it leaves out, and why. What has changed is the difference
 * between the base of a level and the checkout, with what is not committed.
 *
 *   node scripts/test/change.ts
 */
import { fileURLToPath } from 'node:url';
import { changesOf } from './change/base.ts';
import { explain, neededBy } from './change/needed.ts';

if (import.meta.main) {
  const needed = neededBy(changesOf(fileURLToPath(new URL('../../', import.meta.url))));
  console.error(explain(needed));
  console.log(needed.levels.join(' '));
}
