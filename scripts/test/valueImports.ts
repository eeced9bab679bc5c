import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Imports and exports of values from a file of the project; TypeScript has types marked as such (verbatimModuleSyntax). */
const FROM_FILE = /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)';$/gm;

/** The files whose values a file imports, directly or through others, with itself; relative to the root. */
export function valueImports(root: string, file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(FROM_FILE)) {
    const imported = join(dirname(file), path);
    if (imported.endsWith('.ts')) valueImports(root, imported, found);
  }
  return found;
}
