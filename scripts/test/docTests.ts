import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The end of the path of a Markdown file in a string, or a path below docs/. */
const DOCUMENT = /\.md['"`]|['"`](?:\.\.\/)*docs\//;

/** The test files that read documents: a change of documents alone can make only these fail. Relative to the root. */
export function docTests(root = ROOT): string[] {
  const files = globSync('{src,scripts,test}/**/*.test.ts', { cwd: root, exclude: ['test/e2e/**'] });
  return files.filter((file) => DOCUMENT.test(readFileSync(`${root}/${file}`, 'utf8'))).sort();
}
