/**
 * Prints the levels that the change since its base needs, for `make test ONLY=...`; says on stderr what it leaves out, and why. The change is
 * the difference between the base and the checkout, with what is not committed.
 *
 *   node scripts/test/change.ts
 */
import { fileURLToPath } from 'node:url';
import { baseOf, changedSince } from './change/base.ts';
import { explain, neededBy } from './change/needed.ts';

if (import.meta.main) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const base = baseOf(root);
  const files = 'unknown' in base ? undefined : changedSince(root, base.commit);
  const needed = neededBy(files);
  console.error(explain(base, files, needed));
  console.log(needed.levels.join(' '));
}
