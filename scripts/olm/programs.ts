import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { binDir } from '../../test/lab/binaries.ts';

const BUILD = fileURLToPath(new URL('../../test/lab/build.sh', import.meta.url));

/** The path of a pinned program of the family opm, which is built if it is missing. */
export function programPath(name: string): string {
  const path = `${binDir()}/${name}`;
  if (!existsSync(path)) execFileSync(BUILD, ['opm'], { stdio: ['ignore', 2, 2] });
  return path;
}
