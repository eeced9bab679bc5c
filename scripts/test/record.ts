/**
 * Records the last run in .ci/verified.json, if it was of a clean checkout, ran every level, and all passed. `make generate` writes it into
 * docs/reliability.md. Commit both files.
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

/** The commit at which every level passed last, the long ones and those on request as well. */
export interface Verified {
  readonly commit: string;
  /** Such as 2026-01-31, in UTC. */
  readonly date: string;
  readonly passed: number;
  readonly failed: 0;
}

/** Undefined if no run was recorded. */
export function readRecord(root = ROOT): Verified | undefined {
  const path = join(root, RECORD);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Verified) : undefined;
}

/** The commit in the text of a record; undefined if it is none, such as a name, which means another commit later. */
export function recordedCommit(text: string): string | undefined {
  try {
    const { commit } = JSON.parse(text) as Partial<Verified>;
    return /^[0-9a-f]{40}$/.test(commit ?? '') ? commit : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The record of a run, or the reason why it is none.
 *
 * @param now the commit of the checkout, undefined if it is not clean
 */
export function recordOf({ commit, date, levels, passed, failed }: Times, now: string | undefined): Verified | string {
  // `docs` is a part of other levels.
  const missing = LEVELS.filter(({ name }) => name !== 'docs' && !levels.some(({ level }) => level === name));
  if (commit === undefined) return 'the working tree was not clean when the run began';
  if (commit !== now) return 'the working tree is not clean, or has another commit than when the run began';
  if (missing.length > 0) return `the run had not the levels ${missing.map(({ name }) => name).join(', ')}`;
  if (failed > 0) return `${failed} tests failed`;
  return { commit, date: date.slice(0, 10), passed, failed: 0 };
}

if (import.meta.main) {
  const times = readTimes();
  const record = times === undefined ? 'there is no report of a run' : recordOf(times, cleanCommit(ROOT));
  if (typeof record === 'string') {
    console.log(`Not recorded: ${record}.`);
  } else {
    writeFileSync(join(ROOT, RECORD), `${JSON.stringify(record, undefined, 2)}\n`);
    console.log(`Recorded in ${RECORD}. Run \`make generate\`, and commit it with docs/reliability.md.`);
  }
}
