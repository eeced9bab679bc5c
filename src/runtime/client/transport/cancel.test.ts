import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../testing/callingOff.ts', import.meta.url));

it('does not block the process when requests are cancelled while they are being sent', async () => {
  // The timeout ends a process that hangs. Without the bug it takes less than a second.
  const ended = promisify(execFile)(process.execPath, [PROGRAM], { timeout: 60_000, killSignal: 'SIGKILL' });
  await expect(ended).resolves.toEqual({ stdout: '', stderr: '' });
}, 70_000);
