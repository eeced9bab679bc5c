/**
 * Ends with an error if Node.js is too old to run TypeScript files. make runs it before every other script; it works
 * with any Node.js.
 *
 *   node scripts/requireNode.mjs
 */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const oldest = parseInt(engines.node.replace(/\D+/, ''), 10);

if (parseInt(process.versions.node, 10) < oldest) {
  process.stderr.write(`needs Node.js ${oldest} or newer, this is ${process.version}\n`);
  process.exit(1);
}
