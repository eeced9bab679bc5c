import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** One repetition: what it measures does not matter here, and depends on the machine. */
function bench(env: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN], {
    ...{ encoding: 'utf8', env: { ...process.env, REPETITIONS: '1', ...env } },
  });
  return { status, stdout, stderr };
}

it('ends with status 1 if a plan takes longer than the goal, and says which', () => {
  const { status, stdout } = bench({ GOAL_MS: '0.0001' });
  const missed = stdout.split('not met:\n')[1]?.match(/a plan of 200 components with 2,000 dependencies/g);
  expect([status, missed?.length]).toEqual([1, 5]);
  expect(stdout).toMatch(/load of the machine: [\d.]+, on \d+ cores/);
});

it('ends with status 0 if all meet it', () => {
  const { status, stdout } = bench({ GOAL_MS: '600000' });
  expect(status).toBe(0);
  expect(stdout).toContain('≤ 600000');
  expect(stdout).not.toContain('not met');
});

it.each([
  ['REPETITIONS', '0', 'a whole number above 0'],
  ['REPETITIONS', '1.5', 'a whole number above 0'],
  ['GOAL_MS', 'soon', 'a number above 0'],
])('refuses %s=%s', (name, value, allowed) => {
  const { status, stderr } = bench({ [name]: value });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${name}=${value}: must be ${allowed}`)]);
});
