import { describe, expect, it } from 'vitest';
import { FakeClock } from '../runtime/process/clock.ts';
import { within } from './deadline.ts';
import type { Deadline } from './deadline.ts';

const NEVER = new AbortController().signal;
const FOREVER = () => new Promise<never>(() => undefined);

describe('within', () => {
  it('returns the result of the work, and cancels its timer', async () => {
    const clock = new FakeClock();
    expect(await within({ clock, timeoutMs: 8_000, stopped: NEVER }, () => Promise.resolve(7))).toBe(7);
    expect(clock.pending).toBe(0);
  });

  it('rejects at the deadline, even if the work ignores its signal', async () => {
    const clock = new FakeClock();
    const result = within({ clock, timeoutMs: 8_000, stopped: NEVER }, FOREVER);
    const message = 'no complete answer within 8 s';
    const refused = expect(result).rejects.toMatchObject({ reason: 'Deadline', message });
    await clock.advance(8_000);
    await refused;
  });

  it('rejects with the reason of `stopped`', async () => {
    const stopped = new AbortController();
    const result = within({ clock: new FakeClock(), timeoutMs: 8_000, stopped: stopped.signal }, FOREVER);
    stopped.abort(new Error('shut down'));
    await expect(result).rejects.toThrow('shut down');
  });

  it('rejects if `stopped` is already aborted', async () => {
    const stopped = AbortSignal.abort(new Error('shut down'));
    await expect(within({ clock: new FakeClock(), timeoutMs: 1, stopped }, FOREVER)).rejects.toThrow('shut down');
  });

  it('aborts the rest of the work if a part fails', async () => {
    let left: Deadline | undefined;
    const work = (deadline: Deadline) => {
      left = deadline;
      return Promise.reject(new Error('one of two'));
    };
    await expect(within({ clock: new FakeClock(), timeoutMs: 1, stopped: NEVER }, work)).rejects.toThrow('one of two');
    expect(left?.signal.aborted).toBe(true);
  });
});
