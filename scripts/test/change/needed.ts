import { LEVELS } from '../levels.ts';
import { isIn, LONG_LEVELS, OF_ALL, pathsOf, type LongLevel } from '../longLevels.ts';
import type { Base } from './base.ts';

/** The levels that a change of documents alone can make fail; `docs` has the tests that read documents. */
const OF_DOCUMENTS: readonly string[] = ['format', 'shell', 'generated', 'docs'];
/**
 * What people read, and of programs only generators and the tests in `docs`. Any other file is code, whatever its name ends with: helm renders
 * each template of a chart, the image has LICENSE, and .ci/verified.json is the base of later changes.
 */
const DOCUMENTS = [
  /^[^/]+\.md$/,
  /^docs\/.*\.(md|json|svg)$/,
  /^charts\/[^/]+\/README\.md$/,
  /^test\/lab\/README\.md$/,
];
const isDocument = (file: string): boolean => DOCUMENTS.some((pattern) => pattern.test(file));

/** The levels that a change needs. */
export interface Needed {
  readonly levels: readonly string[];
  /** Long levels that it needs, and the first changed file that needs each. */
  readonly long: readonly { readonly name: string; readonly because?: string }[];
  /** What it does not need, and where nothing has changed. */
  readonly leftOut: readonly { readonly name: string; readonly where: string }[];
  readonly onlyDocuments: boolean;
}

/**
 * Decides what a change needs:
 *
 * | Change | Levels |
 * |---|---|
 * | unknown | all |
 * | documents alone | those that read documents |
 * | any other, or nothing | the ordinary levels, faults and bench; a long level if one of its paths or tests has changed, or what all of them run with |
 *
 * @param files that have changed, also those that are gone, relative to the root; undefined if that is unknown
 */
export function neededBy(files: readonly string[] | undefined): Needed {
  const onlyDocuments = files !== undefined && files.length > 0 && files.every(isDocument);
  const need = (level: LongLevel): string | undefined => {
    if (onlyDocuments) return undefined;
    const [{ runs }, paths] = [level, pathsOf(level)];
    // Other tests in its paths are run by the ordinary levels.
    const needs = (file: string) =>
      isIn(file, runs.tests) || (isIn(file, [...paths, ...OF_ALL]) && !file.endsWith('.test.ts'));
    return files === undefined ? 'an unknown change' : files.find(needs);
  };
  const rows = LONG_LEVELS.map((level) => {
    const { name, paths, runs } = level;
    const where = paths === undefined ? 'what its tests import' : [...paths, ...runs.tests].join(' ');
    return { name, where, because: need(level) };
  });
  const long = rows.filter(({ because }) => because !== undefined);
  const ordinary = LEVELS.filter(({ name, phase }) => name !== 'docs' && phase !== 2).map(({ name }) => name);
  const levels = onlyDocuments ? OF_DOCUMENTS : [...ordinary, ...long.map(({ name }) => name)];
  return { levels, long, leftOut: rows.filter((row) => !long.includes(row)), onlyDocuments };
}

/** What a person reads about the decision. */
export function explain(
  base: Base,
  files: readonly string[] | undefined,
  { long, leftOut, onlyDocuments }: Needed,
): string {
  if ('unknown' in base) return `The base of the change is unknown: ${base.unknown}. All long levels run.`;
  const since = `since ${base.commit.slice(0, 12)}`;
  const left = leftOut.map(({ name, where }) => `  left out: ${name}, no change ${since} in ${where}`);
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
