import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readRecord, type Verified } from '../test/record.ts';
import type { GeneratedFile } from './file.ts';

const PAGE = 'docs/reliability.md';
const LINE = /^Last runs that passed: .*$/m;

/** The line of docs/reliability.md about the last run of each level, from .ci/verified.json. The other text is not generated. */
export function lastRuns(): GeneratedFile[] {
  const text = readFileSync(fileURLToPath(new URL(`../../${PAGE}`, import.meta.url)), 'utf8');
  return [{ path: PAGE, content: text.replace(LINE, () => lastRunsLine(readRecord())) }];
}

/** Such as `Last runs that passed: 2026-01-31, commit 0123456789ab, 9000 tests (unit, e2e)`, with one part for each commit. */
export function lastRunsLine(record: Verified): string {
  const rows = Object.entries(record);
  const commits = [...new Set(rows.map(([, { commit }]) => commit))];
  const runs = commits.map((commit) => {
    const levels = rows.filter(([, passed]) => passed.commit === commit);
    const tests = levels.reduce((sum, [, { passed }]) => sum + passed, 0);
    const names = levels.map(([level]) => level).join(', ');
    return `${levels[0]![1].date}, commit ${commit.slice(0, 12)}, ${tests} tests (${names})`;
  });
  return `Last runs that passed: ${runs.length === 0 ? 'none is recorded yet' : runs.join('; ')}`;
}
