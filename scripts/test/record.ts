/**
 * Records the levels that passed in the last run in .ci/verified.json, if it was of a clean checkout; other levels keep their record.
 * `make generate` writes it into docs/reliability.md. Commit both files.
 *
 *   node scripts/test/record.ts
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanCommit } from './change/git.ts';
import { LEVELS } from './levels.ts';
import { readTimes, type Times } from './run/times.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const RECORD = '.ci/verified.json';

/** A run in which a level passed. */
export interface Passed {
  readonly commit: string;
  /** Such as 2026-01-31, in UTC. */
  readonly date: string;
  /** Tests of the level. */
  readonly passed: number;
}

/** The last run in which each level passed, by the names of the levels. */
export type Verified = Readonly<Record<string, Passed>>;

/** Empty if no run was recorded. */
export function readRecord(root = ROOT): Verified {
  const path = join(root, RECORD);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Verified) : {};
}

/** The commits in the text of a record, by level; none for a commit that is a name, which means another commit later. */
export function recordedCommits(text: string): ReadonlyMap<string, string> {
  try {
    const levels = Object.entries(JSON.parse(text) as Readonly<Record<string, Partial<Passed> | undefined>>);
    const commits = levels.map(([level, passed]) => [level, passed?.commit ?? ''] as const);
    return new Map(commits.filter(([, commit]) => /^[0-9a-f]{40}$/.test(commit)));
  } catch {
    return new Map();
  }
}

/**
 * The record after a run, in the order of the levels, or the reason why the run changes nothing.
 *
 * @param now the commit of the checkout, undefined if it is not clean
 */
export function recordOf(
  before: Verified,
  { commit, date, levels }: Times,
  now: string | undefined,
): Verified | string {
  if (commit === undefined) return 'the working tree was not clean when the run began';
  if (commit !== now) return 'the working tree is not clean, or has another commit than when the run began';
  const green = levels.filter(({ passed, failed }) => passed > 0 && failed === 0);
  if (green.length === 0) return 'no level passed';
  const ran = new Map(green.map(({ level, passed }) => [level, { commit, date: date.slice(0, 10), passed }]));
  const known = LEVELS.map(({ name }) => [name, ran.get(name) ?? before[name]] as const);
  return Object.fromEntries(known.filter((row): row is [string, Passed] => row[1] !== undefined));
}

if (import.meta.main) {
  const times = readTimes();
  const record = times === undefined ? 'there is no report of a run' : recordOf(readRecord(), times, cleanCommit(ROOT));
  if (typeof record === 'string') {
    console.log(`Not recorded: ${record}.`);
  } else {
    writeFileSync(join(ROOT, RECORD), `${JSON.stringify(record, undefined, 2)}\n`);
    console.log(`Recorded in ${RECORD}. Run \`make generate\`, and commit it with docs/reliability.md.`);
  }
}
