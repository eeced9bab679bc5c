import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../testing/callingOff.ts', import.meta.url));

it('does not stop the process when requests are called off as they are sent', async () => {
  // A guard against a program that hangs; by itself it takes less than a second.
  const ended = promisify(execFile)(process.execPath, [PROGRAM], { timeout: 60_000, killSignal: 'SIGKILL' });
  await expect(ended).resolves.toEqual({ stdout: '', stderr: '' });
}, 70_000);
