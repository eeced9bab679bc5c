import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** The machine and versions that figures depend on. */
export interface Machine {
  readonly commit: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
}

/** @throws outside of a Git checkout */
export function machine(): Machine {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' and changes on it';
  const all = cpus();
  return {
    commit: `${git('rev-parse', '--short', 'HEAD')}${changed}`,
    node: process.versions.node,
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
  };
}
