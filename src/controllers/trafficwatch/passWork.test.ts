import { expect, it, vi } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { PassWork } from './passWork.ts';

it('measures from the start of a pass to the end of its work, and ignores work without a pass', async () => {
  const clock = new FakeClock();
  const passSettled = vi.fn();
  const work = new PassWork(clock, { passSettled });
  work.ended();
  expect(passSettled).not.toHaveBeenCalled();
  const startedAt = clock.now();
  await clock.advance(200);
  work.began({ startedAt });
  await clock.advance(300);
  work.ended();
  work.ended();
  expect(passSettled.mock.calls).toEqual([[0.5]]);
  work.began({ startedAt: clock.now() + 1_000 });
  work.ended();
  expect(passSettled).toHaveBeenLastCalledWith(0);
});
