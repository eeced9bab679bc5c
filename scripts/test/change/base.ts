import { RECORD, recordedCommit } from '../record.ts';
import { git, tryGit } from './git.ts';

/** A commit with which a change is compared, and who named it. */
interface Found {
  readonly commit: string;
  readonly from: string;
}

/** The base of a change, or why there is none. */
export type Base = Found | { readonly unknown: string };

/**
 * The base is, in this order: the variable CI_BASE; the merge base with origin/main, if HEAD is ahead of that; the recorded commit, at which
 * all levels passed last. That is read from the parent of HEAD: a commit that names its own base would decide what it is tested with. An older
 * base only ever runs more: it is an ancestor, so its difference to HEAD has every change since.
 */
export function baseOf(root: string, named = process.env.CI_BASE): Base {
  const found = named ? { commit: named, from: 'CI_BASE' } : (mergeBase(root) ?? verified(root));
  if ('unknown' in found) return found;
  const name = `${found.commit} (${found.from})`;
  const isAncestor = tryGit(root, 'merge-base', '--is-ancestor', found.commit, 'HEAD') !== undefined;
  if (!isAncestor) return { unknown: `${name} is no ancestor of HEAD in this clone` };
  return commitOf(root, found.commit) === commitOf(root, 'HEAD') ? { unknown: `${name} is HEAD itself` } : found;
}

function mergeBase(root: string): Found | undefined {
  const commit = tryGit(root, 'merge-base', 'origin/main', 'HEAD');
  const isAhead = commit !== undefined && commit !== commitOf(root, 'HEAD');
  return isAhead ? { commit, from: 'the merge base with origin/main' } : undefined;
}

function verified(root: string): Base {
  const text = tryGit(root, 'show', `HEAD^:${RECORD}`);
  if (text === undefined) return { unknown: `HEAD is not ahead of origin/main, and its parent has no ${RECORD}` };
  const commit = recordedCommit(text);
  if (commit === undefined) return { unknown: `${RECORD} of the parent of HEAD names no commit by 40 digits` };
  return { commit, from: `${RECORD} of the parent of HEAD` };
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
