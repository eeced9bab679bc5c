/**
 * Writes a file-based catalog and its Dockerfile, and validates it:
 *
 *   node scripts/olm/catalog.ts --out dist/catalog BUNDLE...
 *
 * A BUNDLE is a folder, or the reference of a bundle image that opm pulls. The catalog contains the manifests of a
 * folder, so that OLM pulls no image for it. Older bundles of the channel stay in the catalog if they are also named.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeCatalog } from './writeCatalog.ts';
import { programPath } from './programs.ts';
import { catalogProblems } from './validators.ts';

/** The image of the release of opm that writes and validates the catalog. */
const BASE_IMAGE = 'quay.io/operator-framework/opm:v1.63.0';

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: 'dist/catalog' } },
  allowPositionals: true,
});
if (positionals.length === 0) throw new Error('name at least one bundle');
writeCatalog(values.out, positionals);
const found = catalogProblems(values.out);
for (const problem of found) console.error(problem);
if (found.length > 0) process.exitCode = 1;
else {
  rmSync(`${values.out}.Dockerfile`, { force: true });
  execFileSync(programPath('opm'), [
    'generate',
    'dockerfile',
    `--base-image=${BASE_IMAGE}`,
    `--builder-image=${BASE_IMAGE}`,
    values.out,
  ]);
  console.log(`${values.out} is valid`);
}
