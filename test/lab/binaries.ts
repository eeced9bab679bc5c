import { execFileSync } from 'node:child_process';
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const BUILD = fileURLToPath(new URL('build.sh', import.meta.url));

let directory: string | undefined;

/** The directory of the lab's programs (kubectl, helm, etcd, ...). It may not exist yet. */
export function binDir(): string {
  directory ??= execFileSync(BUILD, ['--print-bin'], { encoding: 'utf8' }).trim();
  return directory;
}

/**
 * The absolute path of a program. Throws with the build command if the program was not built: a build takes minutes, so
 * no test starts one by itself.
 */
export async function binary(name: string): Promise<string> {
  const path = `${binDir()}/${name}`;
  await access(path).catch(() => {
    throw new Error(`${name} is not built: run test/lab/build.sh (looked for ${path})`);
  });
  return path;
}
