import { execFileSync, type StdioOptions } from 'node:child_process';

/** The output of git in a checkout. @throws if git fails, or is not there */
export function git(root: string, ...args: readonly string[]): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26, stdio }).trim();
}

/** The output of git, undefined if it fails. */
export function tryGit(root: string, ...args: readonly string[]): string | undefined {
  try {
    return git(root, ...args);
  } catch {
    return undefined;
  }
}

/** The commit of a clean checkout; undefined if something is changed or new in it, or if it is none. */
export function cleanCommit(root: string): string | undefined {
  return tryGit(root, 'status', '--porcelain') === '' ? tryGit(root, 'rev-parse', 'HEAD') : undefined;
}
