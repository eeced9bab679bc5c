import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const LIB = fileURLToPath(new URL('../test/lab/lib', import.meta.url));

let lab: string;
beforeEach(() => {
  lab = mkdtempSync(join(tmpdir(), 'lab-wait-'));
});
afterEach(() => rmSync(lab, { recursive: true }));

/** Runs a script with the functions of the lab. */
function bash(script: string): number | null {
  const sources = `set -euo pipefail; source ${LIB}/environment.sh; source ${LIB}/process.sh`;
  const env = { PATH: process.env.PATH, TRAFFIC_LAB_DIR: lab };
  return spawnSync('bash', ['-c', `${sources}; ${script}`], { env, stdio: 'ignore', timeout: 10_000 }).status;
}

describe.runIf(process.platform === 'linux')('a wait of the lab, by the clock of the machine', () => {
  /** Succeeds at the third call, and sets the wall clock of bash forward or back at each. */
  const THIRD = (by: number) => `n=0; third() { n=$((n + 1)); SECONDS=$((SECONDS + ${by})); ((n == 3)); }`;

  it.each([
    ['wait_for', 'wait_for 20'],
    ['wait_for_process', 'process_pid() { echo 1; }; show_log() { :; }; wait_for_process x 20'],
  ])('%s goes on when the wall clock is set', (_, wait) => {
    expect(bash(`${THIRD(3600)}; ${wait} third`)).toBe(0);
  });

  it('ends, also when the wall clock goes back', () => {
    expect(bash(`never() { SECONDS=$((SECONDS - 3600)); false; }; wait_for 1 never`)).toBe(1);
  });
});
