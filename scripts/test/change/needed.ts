import { LEVELS } from '../levels.ts';
import { isIn, LONG_LEVELS, OF_ALL, pathsOf, type LongLevel } from '../longLevels.ts';
import type { Change } from './base.ts';

/** The levels that a change of documents alone can make fail; `docs` has the tests that read documents. */
const OF_DOCUMENTS: readonly string[] = ['format', 'shell', 'generated', 'docs'];
/**
 * Files that people read, and of programs only generators and the tests in `docs`. Any other file is code, whatever its name ends with: helm renders
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
  readonly long: readonly { readonly name: string; readonly because: string }[];
  /** Levels that it does not need, and the places where nothing has changed. */
  readonly leftOut: readonly { readonly name: string; readonly where: string }[];
}

const ORDINARY = LEVELS.filter(({ name, phase }) => name !== 'docs' && phase !== 2).map(({ name }) => name);

/**
 * Decides what is needed, for each level by what has changed since its own base:
 *
 * | Change | Levels |
 * |---|---|
 * | documents alone, for every ordinary level | those that read documents |
 * | any other, unknown, or nothing | the ordinary levels, faults and bench |
 * | unknown to a long level, or of its paths, its tests, or what all of them run with | that level |
 *
 * @param changeOf by the name of a level; files are relative to the root, also those that are gone
 */
export function neededBy(changeOf: (level: string) => Change): Needed {
  const changes = ORDINARY.map(changeOf);
  const rows = LONG_LEVELS.map((level) => {
    const change = changeOf(level.name);
    return { name: level.name, because: becauseOf(level, change), where: whereOf(level, change) };
  });
  const long = rows.flatMap(({ name, because }) => (because === undefined ? [] : [{ name, because }]));
  const ordinary = changes.every(isOfDocuments) ? OF_DOCUMENTS : ORDINARY;
  const needed = new Set(long.map(({ name }) => name));
  return { levels: [...ordinary, ...needed], long, leftOut: rows.filter(({ name }) => !needed.has(name)) };
}

const isOfDocuments = (change: Change): boolean =>
  'files' in change && change.files.length > 0 && change.files.every(isDocument);

/** Why a long level is needed: the first of its files that has changed. The ordinary levels run other tests in its paths, and read documents. */
function becauseOf(level: LongLevel, change: Change): string | undefined {
  if ('unknown' in change) return `an unknown change: ${change.unknown}`;
  const paths = [...pathsOf(level), ...OF_ALL];
  return change.files.find(
    (file) => isIn(file, level.runs.tests) || (isIn(file, paths) && !file.endsWith('.test.ts') && !isDocument(file)),
  );
}

function whereOf({ paths, runs }: LongLevel, change: Change): string {
  const since = 'base' in change ? ` since ${change.base.commit.slice(0, 12)} (${change.base.from})` : '';
  return `${paths === undefined ? 'what its tests import' : [...paths, ...runs.tests].join(' ')}${since}`;
}

/** The text about the decision. */
export function explain({ levels, long, leftOut }: Needed): string {
  const unread = ORDINARY.filter((name) => !levels.includes(name));
  const documents = `left out: ${unread.join(' ')}; documents alone have changed, and the tests that read them are in docs`;
  return [
    ...(unread.length > 0 ? [documents] : []),
    ...long.map(({ name, because }) => `runs: ${name}, for ${because}`),
    ...leftOut.map(({ name, where }) => `left out: ${name}, no change in ${where}`),
  ].join('\n');
}
