/**
 * Validates bundle/ with the validators of operator-framework. With an image of the operator, it first writes
 * dist/bundle with that image, and validates it:
 *
 *   node scripts/olm/bundle.ts [--image registry.example.com/traffic-operator:0.1.0]
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../generate/bundle/bundle.ts';
import { writeFiles } from '../generate/file.ts';
import { problems } from './validators.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const { values } = parseArgs({ options: { image: { type: 'string' } } });
const root = values.image === undefined ? ROOT : join(ROOT, 'dist');
if (values.image !== undefined) {
  rmSync(join(root, 'bundle'), { recursive: true, force: true });
  writeFiles(root, bundle({ image: values.image }));
}
const found = problems(join(root, 'bundle'));
for (const problem of found) console.error(problem);
if (found.length > 0) process.exitCode = 1;
else console.log(`${join(root, 'bundle')} is valid`);
