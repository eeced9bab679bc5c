import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it, vi } from 'vitest';

const MODULE = new URL('../../src/commands/longRunning.ts', import.meta.url).href;
const WAIT = { timeout: 240_000, interval: 500 };

/** Runs a program together with `wakeMemoryReducer` until `look` accepts the lines that it printed. */
async function untilLines(
  program: string,
  { flags = [], look }: { flags?: readonly string[]; look: (lines: readonly string[]) => void },
): Promise<void> {
  const source = `import { wakeMemoryReducer } from ${JSON.stringify(MODULE)}; wakeMemoryReducer(); ${program}`;
  const child = spawn(process.execPath, [...flags, '--input-type=module-typescript', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  try {
    await vi.waitFor(() => look(lines), WAIT);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Allocates more than 100 MB, releases them, then idles and prints the size of its heap in bytes. */
const HOLDS_MUCH_ONCE = `
  let held = Array.from({ length: 1_000_000 }, (_, i) => ({ i, text: 'x' + i, list: [i] }));
  setTimeout(() => { held = undefined; }, 1_000);
  setInterval(() => { console.log(process.memoryUsage().heapTotal); }, 500);
`;
const HELD = 100 * 1024 ** 2;

it('a process that once used much memory releases it while it idles', async () => {
  const look = (lines: readonly string[]): void => {
    const seen = lines.map(Number);
    expect(Math.max(...seen)).toBeGreaterThan(HELD);
    expect(seen.at(-1)).toBeLessThan(Math.max(...seen) / 4);
  };
  await untilLines(HOLDS_MUCH_ONCE, { look });
});

/** Holds 20 MB, and creates as much garbage every 10 s. It is collected at once, because V8's own schedule differs. */
const HAS_PASSES = `
  globalThis.held = Array.from({ length: 300_000 }, (_, i) => ({ i }));
  const pass = () => { Array.from({ length: 200_000 }, (_, i) => ({ i, list: [i] })); gc(); };
  pass();
  setInterval(pass, 10_000);
`;
/** Above this value V8 13.6 regards the allocation rate as low (`kHighMutatorUtilization`). */
const LITTLE = 0.993;

/** The class of the allocation rate of a line; `done` if V8 then had nothing else to release, and stops looking. */
function takenFor(line: string): string[] {
  if (/Memory reducer: finished GC .*\(done\)/.test(line)) return ['done'];
  const [, rate] = /Embedder mutator utilization = ([\d.]+)/.exec(line) ?? [];
  return rate === undefined ? [] : [Number(rate) > LITTLE ? 'little' : 'much'];
}

it('a low allocation rate of C++ counts as low between two passes', async () => {
  const flags = ['--trace-memory-reducer', '--trace-mutator-utilization', '--max-semi-space-size=2', '--expose-gc'];
  // In a row, not always: on a busy machine a collection looks slow, because V8 measures wall time.
  const look = (lines: readonly string[]): void => {
    const taken = lines.flatMap(takenFor).join(' ');
    expect(taken, lines.join('\n')).toMatch(/little little (little little|done)/);
  };
  await untilLines(HAS_PASSES, { flags, look });
});
