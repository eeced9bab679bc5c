import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A copy of the checkout in the directory of temporary files, with all that is not committed. */
export interface Copy {
  readonly root: string;
  /** Temporary files of the tests. Short, since sockets are in it: a path of a socket has at most 107 bytes. */
  readonly temporary: string;
  read(path: string): string;
  write(path: string, text: string): void;
  remove(): void;
}

/**
 * Copies the files that git tracks or would add, and node_modules.
 *
 * @param checkout its root
 * @throws Error if git fails
 */
export function copyOf(checkout: string): Copy {
  const directory = mkdtempSync(join(tmpdir(), 'guards-'));
  const [root, temporary] = [join(directory, 'copy'), join(directory, 't')];
  mkdirSync(temporary);
  for (const path of filesOf(checkout)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    copyFileSync(join(checkout, path), join(root, path));
  }
  copyPackages(join(checkout, 'node_modules'), join(root, 'node_modules'));
  return {
    root,
    temporary,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    write: (path, text) => writeFileSync(join(root, path), text),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** As hard links, unless the temporary files are on another file system. A symbolic link would not do: the bundle names the paths of packages. */
function copyPackages(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' });
  } catch {
    rmSync(to, { recursive: true, force: true });
    execFileSync('cp', ['-a', from, to]);
  }
}

function filesOf(checkout: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', args, { cwd: checkout, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  // A file that is deleted and not yet committed is listed.
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(checkout, path)));
}
