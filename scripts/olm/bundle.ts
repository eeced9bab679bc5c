/**
 * Validates bundle/ with the validators of operator-framework. With another image or namespace of the operator, or
 * without a feature, it first writes dist/bundle in the working directory so, and validates it:
 *
 *   node scripts/olm/bundle.ts [--image registry.example.com/traffic-operator:0.1.0] [--namespace network]
 *     [--without weights]
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../generate/bundle/bundle.ts';
import { parseFeatures } from '../generate/features.ts';
import { writeFiles } from '../generate/file.ts';
import { problems } from './validators.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const { values } = parseArgs({
  options: {
    image: { type: 'string' },
    namespace: { type: 'string' },
    without: { type: 'string', multiple: true },
  },
});
const options = { ...values, without: parseFeatures(values.without ?? []) };
const isOther = Object.keys(values).length > 0;
const root = isOther ? 'dist' : ROOT;
if (isOther) {
  rmSync(join(root, 'bundle'), { recursive: true, force: true });
  writeFiles(root, bundle(options));
}
const found = problems(join(root, 'bundle'));
for (const problem of found) console.error(problem);
if (found.length > 0) process.exitCode = 1;
else console.log(`${join(root, 'bundle')} is valid`);
