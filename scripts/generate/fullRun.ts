import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readRecord, type Verified } from '../test/record.ts';
import type { GeneratedFile } from './file.ts';

const PAGE = 'docs/reliability.md';
const LINE = /^Full run: .*$/m;

/** The line of docs/reliability.md about the last run of all levels, from .ci/verified.json. The other text is not generated. */
export function fullRun(): GeneratedFile[] {
  const text = readFileSync(fileURLToPath(new URL(`../../${PAGE}`, import.meta.url)), 'utf8');
  return [{ path: PAGE, content: text.replace(LINE, () => fullRunLine(readRecord())) }];
}

/** Such as `Full run: 2026-01-31, commit 0123456789ab, 9000 passed, 0 failed`. */
export function fullRunLine(record: Verified | undefined): string {
  if (record === undefined) return 'Full run: none is recorded yet';
  const { date, commit, passed, failed } = record;
  return `Full run: ${date}, commit ${commit.slice(0, 12)}, ${passed} passed, ${failed} failed`;
}
