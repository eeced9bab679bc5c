import { execFileSync, type StdioOptions } from 'node:child_process';

/** The output of git in a checkout. @throws if git fails, or is not there */
export function git(root: string, ...args: readonly string[]): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26, stdio }).trim();
}

/** Whether nothing is changed or new in a checkout. @throws if it is none */
export const isClean = (root: string): boolean => git(root, 'status', '--porcelain') === '';

/** The commit of a clean checkout; undefined if it is not clean, or none. */
export function cleanCommit(root: string): string | undefined {
  try {
    return isClean(root) ? git(root, 'rev-parse', 'HEAD') : undefined;
  } catch {
    return undefined;
  }
}
