import { RECORD, recordedCommits } from '../record.ts';
import { git, tryGit } from './git.ts';

/** A commit with which the checkout is compared, and who named it. */
export interface Base {
  readonly commit: string;
  readonly from: string;
}

/** The changes since the base of a level: the base and the files, or why there is no base. */
export type Change = { readonly base: Base; readonly files: readonly string[] } | { readonly unknown: string };

/**
 * Returns what has changed for a level, by its name. The base is, in this order: the variable CI_BASE; the merge base with origin/main, if HEAD
 * is ahead of that; the recorded commit, at which the level passed last. The record is read from the parent of HEAD: a commit that names its own
 * base would decide what it is tested with. An older base only ever runs more: it is an ancestor, so its difference to HEAD has every change
 * since.
 */
export function changesOf(root: string, named = process.env.CI_BASE): (level: string) => Change {
  const common = named ? { commit: named, from: 'CI_BASE' } : mergeBase(root);
  const baseFor = common === undefined ? recorded(root) : () => common;
  const files = new Map<string, readonly string[]>();
  const since = (commit: string): readonly string[] => {
    const known = files.get(commit) ?? changedSince(root, commit);
    files.set(commit, known);
    return known;
  };
  return (level) => {
    const base = usable(root, baseFor(level));
    return 'unknown' in base ? base : { base, files: since(base.commit) };
  };
}

function mergeBase(root: string): Base | undefined {
  const commit = tryGit(root, 'merge-base', 'origin/main', 'HEAD');
  const isAhead = commit !== undefined && commit !== commitOf(root, 'HEAD');
  return isAhead ? { commit, from: 'the merge base with origin/main' } : undefined;
}

function recorded(root: string): (level: string) => Base | { readonly unknown: string } {
  const text = tryGit(root, 'show', `HEAD^:${RECORD}`);
  if (text === undefined) {
    return () => ({ unknown: `HEAD is not ahead of origin/main, and its parent has no ${RECORD}` });
  }
  const commits = recordedCommits(text);
  const from = `${RECORD} of the parent of HEAD`;
  return (level) => {
    const commit = commits.get(level);
    return commit === undefined ? { unknown: `${from} names no commit of ${level} by 40 digits` } : { commit, from };
  };
}

function usable(root: string, base: Base | { readonly unknown: string }): Base | { readonly unknown: string } {
  if ('unknown' in base) return base;
  const name = `${base.commit} (${base.from})`;
  const isAncestor = tryGit(root, 'merge-base', '--is-ancestor', base.commit, 'HEAD') !== undefined;
  if (!isAncestor) return { unknown: `${name} is no ancestor of HEAD in this clone` };
  return commitOf(root, base.commit) === commitOf(root, 'HEAD') ? { unknown: `${name} is HEAD itself` } : base;
}

const commitOf = (root: string, name: string): string | undefined =>
  tryGit(root, 'rev-parse', '--verify', `${name}^{commit}`);

/**
 * Files that differ between a commit and the checkout, also those that are gone, and those that are new and not added. A renamed file has both
 * of its names.
 */
export function changedSince(root: string, commit: string): string[] {
  const differing = git(root, 'diff', '--name-only', '--no-renames', '-z', commit);
  const untracked = git(root, 'ls-files', '--others', '--exclude-standard', '-z');
  const files = [differing, untracked].flatMap((list) => list.split('\0'));
  return [...new Set(files.filter(Boolean))].sort();
}
