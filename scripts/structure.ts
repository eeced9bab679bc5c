import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { importsOf, sizesOf } from './structure/figures.ts';

/** Prints the figures of the structure of src; with --details also each import that runs back up, and each file in a circle. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const { values } = parseArgs({ options: { details: { type: 'boolean', default: false } } });
const { files, lines, depth } = sizesOf(ROOT);
const { upward, circles } = await importsOf(ROOT);
const rows = [
  [files, 'production files in src'],
  [lines, 'lines in these files'],
  [depth, 'levels of folders under src'],
  [upward.length, 'imports of a later stage in the same wing'],
  [circles.length, 'files in circles of imports'],
] as const;
for (const [value, name] of rows) process.stdout.write(`${value.toLocaleString('en').padStart(8)} ${name}\n`);
if (values.details) process.stdout.write([...upward, ...circles].map((each) => `${each}\n`).join(''));
