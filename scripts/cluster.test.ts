import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('cluster.sh', import.meta.url));
const NO_CONDITIONS = 'error: .status.conditions accessor error: <nil> is of the type <nil>, expected []interface{}';
const directory = mkdtempSync(join(tmpdir(), 'cluster-'));
const waits = join(directory, 'waits');

afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Runs `cluster.sh install` with a kubectl whose first `wait` fails with this message. A real API server gives conditions
 * to a new CRD so soon that kubectl meets none only by chance.
 */
function install(message: string): { status: number | null; stderr: string; waits: number } {
  const kubectl = join(directory, 'kubectl');
  const program = `#!/usr/bin/env bash
if [[ $1 == get || $1 == kustomize ]]; then exit; fi
if [[ $1 != wait ]]; then exec cat >/dev/null; fi
echo wait >>"${waits}"
if (($(wc -l <"${waits}") > 1)); then exit; fi
echo '${message}' >&2
exit 1
`;
  writeFileSync(kubectl, program, { mode: 0o755 });
  writeFileSync(waits, '');
  const env = { ...process.env, KUBECTL: kubectl };
  const { status, stderr } = spawnSync(SCRIPT, ['install'], { env, encoding: 'utf8', input: '' });
  return { status, stderr, waits: readFileSync(waits, 'utf8').trim().split('\n').length };
}

it('waits for a CRD that has no conditions yet, at which kubectl fails', () => {
  expect(install(NO_CONDITIONS)).toEqual({ status: 0, stderr: '', waits: 2 });
});

it('fails at once with any other message of kubectl', () => {
  const message = 'error: timed out waiting for the condition on customresourcedefinitions/a';
  expect(install(message)).toEqual({ status: 1, stderr: `${message}\n`, waits: 1 });
});
