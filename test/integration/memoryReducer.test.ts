import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it, vi } from 'vitest';

const MODULE = new URL('../../src/runtime/memoryReducer.ts', import.meta.url).href;

/** Holds 100 MB and more, lets them go, does nothing any more, and tells how many bytes of heap it holds. */
const PROGRAM = `
  import { wakeMemoryReducer } from ${JSON.stringify(MODULE)};
  wakeMemoryReducer();
  let held = Array.from({ length: 1_000_000 }, (_, i) => ({ i, text: 'x' + i, list: [i] }));
  setTimeout(() => { held = undefined; }, 1_000);
  setInterval(() => { console.log(process.memoryUsage().heapTotal); }, 500);
`;
const HELD = 100 * 1024 ** 2;
const WAIT = { timeout: 90_000, interval: 500 };

it('a process that held much once gives it back when it has nothing to do', async () => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const seen: number[] = [];
  createInterface(child.stdout).on('line', (line) => seen.push(Number(line)));
  try {
    await vi.waitFor(() => expect(Math.max(...seen)).toBeGreaterThan(HELD), WAIT);
    await vi.waitFor(() => expect(seen.at(-1)).toBeLessThan(Math.max(...seen) / 4), WAIT);
  } finally {
    child.kill('SIGKILL');
  }
});
