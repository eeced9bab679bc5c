import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runTimed } from './command.ts';

const COMMAND = new URL('command.ts', import.meta.url).href;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'command-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A command whose child waits, and does not end by these signals. The process IDs of both are in files. */
function waiting(...ignored: readonly string[]): string[] {
  const trap = ignored.map((signal) => `trap '' ${signal};`).join(' ');
  return ['sh', '-c', `cd ${directory}; ${trap} echo $$ > parent; sh -c 'echo $$ > child; exec sleep 600'; exit 1`];
}

const isStarted = (): boolean => ['child', 'parent'].every((name) => existsSync(join(directory, name)));

/** Whether the command or its child runs. One that has ended stays as a zombie where no process waits for it. */
function isAlive(): boolean {
  return ['child', 'parent'].some((name) => {
    const pid = Number(readFileSync(join(directory, name), 'utf8'));
    const stat = `/proc/${pid}/stat`;
    try {
      process.kill(pid, 0);
      return !(existsSync(stat) && readFileSync(stat, 'utf8').includes(') Z '));
    } catch {
      return false;
    }
  });
}

describe('a command that does not end', () => {
  it.each([
    ['ends with all that it started', []],
    ['ends even if it ignores signals', ['TERM']],
  ])('%s', async (_, ignored) => {
    const output = openSync(join(directory, 'output'), 'w');
    const ended = await runTimed(waiting(...ignored), { output, limitMs: 2_000, graceMs: 200 });
    expect(isStarted()).toBe(true);
    expect(ended).toMatchObject({ status: 1, overdueAfterMs: 2_000 });
    await vi.waitFor(() => expect(isAlive()).toBe(false), 5_000);
  });
});

describe('a signal to the runner', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends its commands, and no other begins', async (signal) => {
    const script = `
      const { runTimed, COMMANDS } = await import(${JSON.stringify(COMMAND)});
      COMMANDS.endOnSignals();
      await runTimed(${JSON.stringify(waiting())}, { output: 'inherit' });
      await runTimed(['touch', ${JSON.stringify(join(directory, 'next'))}], { output: 'inherit' });`;
    const runner = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    const exit = once(runner, 'exit');
    await vi.waitFor(() => expect(isStarted()).toBe(true), 30_000);
    runner.kill(signal);
    expect(await exit).toEqual([130, null]);
    expect(isAlive()).toBe(false);
    expect(existsSync(join(directory, 'next'))).toBe(false);
  });
});
