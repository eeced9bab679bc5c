import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { FakeClock, systemClock } from './clock.ts';

it('a fake clock fires timers in order, each at its own time, including timers that a timer sets', async () => {
  const clock = new FakeClock(1_000);
  const fired: [string, number][] = [];
  clock.setTimeout(() => fired.push(['late', clock.monotonic()]), 30);
  clock.setTimeout(() => {
    fired.push(['early', clock.monotonic()]);
    clock.setTimeout(() => fired.push(['nested', clock.monotonic()]), 10);
  }, 10);

  await clock.advance(25);
  expect(fired).toEqual([
    ['early', 10],
    ['nested', 20],
  ]);
  expect([clock.now(), clock.monotonic(), clock.pending]).toEqual([1_025, 25, 1]);
  await clock.advance(5);

  expect(fired.at(-1)).toEqual(['late', 30]);
});

it('a fake clock runs the code after a sleep before the next timer', async () => {
  const clock = new FakeClock();
  const woken: number[] = [];
  void (async () => {
    for (let n = 0; n < 3; n += 1) {
      await clock.sleep(10);
      woken.push(clock.monotonic());
    }
  })();

  await clock.advance(100);

  expect(woken).toEqual([10, 20, 30]);
});

it('a cancelled timer does not fire', async () => {
  const clock = new FakeClock();
  const fn = vi.fn();
  clock.setTimeout(fn, 10).cancel();

  await clock.advance(20);

  expect(fn).not.toHaveBeenCalled();
});

it('a sleep resolves at once when its signal is aborted', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const sleeping = clock.sleep(1_000, abort.signal);
  abort.abort();

  await sleeping;
  await clock.sleep(1_000, abort.signal);
  await systemClock.sleep(60_000, abort.signal);

  expect(clock.pending).toBe(0);
});

it('the system clock keeps the process alive during a sleep, but not for a timer', async () => {
  const module = new URL('clock.ts', import.meta.url).href;
  const run = async (wait: string): Promise<string> => {
    const script = `const { systemClock } = await import('${module}'); ${wait}; console.log('end')`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    return stdout;
  };

  expect(await run('await systemClock.sleep(50)')).toBe('end\n');
  const begun = performance.now();
  await run('systemClock.setTimeout(() => undefined, 60_000)');
  expect(performance.now() - begun).toBeLessThan(30_000);
}, 60_000);

it('the system clock does not fire a very long timer at once', async () => {
  const fn = vi.fn();
  const timer = systemClock.setTimeout(fn, 2 ** 33);

  await systemClock.sleep(20);
  timer.cancel();

  expect(fn).not.toHaveBeenCalled();
});
