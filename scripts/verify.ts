/**
 * Fails if a generated file is stale, or if the working tree is dirty after generating: then the commit is not what was
 * checked.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { generate, type Generator } from './generate.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Returns the problems of a checkout as texts. Writes stale files. */
export async function verify(root = ROOT, generators?: readonly Generator[]): Promise<string[]> {
  const stale = await generate(true, root, generators);
  const dirty = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
  return [
    ...complaint('These generated files were not current:', stale, 'They are now: look at them and commit.'),
    ...complaint('The working tree is not clean:', dirty, 'Commit, or ignore what does not belong there.'),
  ];
}

function complaint(what: string, paths: readonly string[], remedy: string): string[] {
  return paths.length === 0 ? [] : [[what, ...paths.map((path) => `  ${path}`), remedy].join('\n')];
}

if (import.meta.main) {
  const complaints = await verify();
  for (const text of complaints) console.error(text);
  if (complaints.length > 0) process.exitCode = 1;
}
