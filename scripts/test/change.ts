/**
 * Prints the levels that the change since its base needs, for `make test ONLY=...`; says on stderr what it leaves out, and why. The change is
 * what is committed: the difference between the base and HEAD.
 *
 *   node scripts/test/change.ts
 */
import { fileURLToPath } from 'node:url';
import { git, isClean } from './git.ts';
import { LEVELS } from './levels.ts';
import { isIn, LONG_LEVELS, type LongLevel } from './longLevels.ts';
import { readRecord } from './record.ts';

/** The levels that a change of documents alone can make fail; `docs` has the tests that read documents. */
const OF_DOCUMENTS: readonly string[] = ['format', 'shell', 'generated', 'docs'];
/** Not LICENSE, which is a part of the image. The record is written with docs/reliability.md. */
const isDocument = (file: string): boolean => file.endsWith('.md') || isIn(file, ['docs/', '.ci/verified.json']);

/** The levels that a change needs. */
export interface Needed {
  readonly levels: readonly string[];
  /** Long levels that it needs, and the first changed file that needs each. */
  readonly long: readonly { readonly name: string; readonly because?: string }[];
  /** What it does not need, and the paths that have no change. */
  readonly leftOut: readonly { readonly name: string; readonly paths: readonly string[] }[];
  readonly onlyDocuments: boolean;
}

/**
 * Decides what a change needs:
 *
 * | Change | Levels |
 * |---|---|
 * | unknown | all |
 * | documents alone | those that read documents |
 * | any other, or nothing | the ordinary levels, faults and bench; a long level if one of its paths or tests has changed |
 *
 * @param files that have changed, also those that are gone, relative to the root; undefined if that is unknown
 */
export function neededBy(files: readonly string[] | undefined): Needed {
  const onlyDocuments = files !== undefined && files.length > 0 && files.every(isDocument);
  const need = ({ paths, runs }: LongLevel): string | undefined => {
    if (onlyDocuments) return undefined;
    // Other tests in its paths are run by the ordinary levels.
    const needs = (file: string) => isIn(file, runs.tests) || (isIn(file, paths) && !file.endsWith('.test.ts'));
    return files === undefined ? 'an unknown change' : files.find(needs);
  };
  const rows = LONG_LEVELS.map((level) => {
    const { name, paths, runs } = level;
    return { name, paths: [...paths, ...runs.tests.filter((test) => !isIn(test, paths))], because: need(level) };
  });
  const long = rows.filter(({ because }) => because !== undefined);
  const ordinary = LEVELS.filter(({ name, phase }) => name !== 'docs' && phase !== 2).map(({ name }) => name);
  const levels = onlyDocuments ? OF_DOCUMENTS : [...ordinary, ...long.map(({ name }) => name)];
  return { levels, long, leftOut: rows.filter((row) => !long.includes(row)), onlyDocuments };
}

/** The commit with which a change is compared, and who named it; or why there is none. */
export type Base = { readonly commit: string; readonly from: string } | { readonly unknown: string };

/**
 * The base is, in this order: the variable CI_BASE; the merge base with origin/main, if HEAD is ahead of that; the commit of .ci/verified.json,
 * at which all levels passed last. An older base only ever runs more: it is an ancestor, so its difference to HEAD has every change since.
 */
export function baseOf(root: string, named = process.env.CI_BASE): Base {
  const found = named ? { commit: named, from: 'CI_BASE' } : (mergeBase(root) ?? verified(root));
  if (found === undefined) return { unknown: 'HEAD is not ahead of origin/main, and there is no .ci/verified.json' };
  if (tryGit(root, 'merge-base', '--is-ancestor', found.commit, 'HEAD') !== undefined) return found;
  return { unknown: `${found.commit} (${found.from}) is no ancestor of HEAD in this clone` };
}

function mergeBase(root: string): { commit: string; from: string } | undefined {
  const commit = tryGit(root, 'merge-base', 'origin/main', 'HEAD');
  const isAhead = commit !== undefined && commit !== tryGit(root, 'rev-parse', 'HEAD');
  return isAhead ? { commit, from: 'the merge base with origin/main' } : undefined;
}

function verified(root: string): { commit: string; from: string } | undefined {
  const commit = readRecord(root)?.commit;
  return commit === undefined ? undefined : { commit, from: '.ci/verified.json' };
}

function tryGit(root: string, ...args: readonly string[]): string | undefined {
  try {
    return git(root, ...args);
  } catch {
    return undefined;
  }
}

/** Files that differ between a commit and HEAD, also those that are gone. A renamed file has both of its names. */
export function changedSince(root: string, commit: string): string[] {
  return git(root, 'diff', '--name-only', '--no-renames', '-z', commit, 'HEAD').split('\0').filter(Boolean);
}

/** What a person reads about the decision. */
export function explain(
  base: Base,
  files: readonly string[] | undefined,
  { long, leftOut, onlyDocuments }: Needed,
): string {
  if ('unknown' in base) return `The base of the change is unknown: ${base.unknown}. All long levels run.`;
  const since = `since ${base.commit.slice(0, 12)}`;
  const left = leftOut.map(({ name, paths }) => `  left out: ${name}, no change ${since} in ${paths.join(' ')}`);
  const runs = long.map(({ name, because }) => `  runs: ${name}, for ${because}`);
  const unread = LEVELS.map(({ name }) => name).filter((name) => !OF_DOCUMENTS.includes(name));
  const documents = [
    `  left out: ${unread.join(' ')}; documents alone have changed, and the tests that read them are in docs`,
  ];
  return [
    `${files?.length ?? 0} files have changed ${since} (${base.from})`,
    ...(onlyDocuments ? documents : [...runs, ...left]),
  ].join('\n');
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const base = baseOf(root);
  const files = 'unknown' in base ? undefined : changedSince(root, base.commit);
  const needed = neededBy(files);
  if (tryGit(root, 'rev-parse', 'HEAD') !== undefined && !isClean(root)) {
    console.error('The working tree is not clean: what is not committed is not a part of the change, but is tested.');
  }
  console.error(explain(base, files, needed));
  console.log(needed.levels.join(' '));
}
