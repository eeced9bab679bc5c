import { expect, it, vi } from 'vitest';
import { FakeClock } from '../../process/clock.ts';
import { ApiError } from '../errors.ts';
import { Reachability } from './reachability.ts';

const never = new AbortController().signal;
const down = new Error('down');
const answered = (status: number): ApiError => new ApiError({ status, reason: 'R', method: 'GET', path: '/version' });

function setUp(probe: () => Promise<unknown>): { clock: FakeClock; reachability: Reachability; onAnswer: () => void } {
  const clock = new FakeClock();
  const onAnswer = vi.fn();
  return { clock, onAnswer, reachability: new Reachability({ clock, probe, onAnswer }) };
}

it('sends one shared probe every 3 s, until there is a response', async () => {
  const probe = vi.fn().mockRejectedValueOnce(down).mockRejectedValueOnce(answered(503)).mockResolvedValue({});
  const { clock, reachability, onAnswer } = setUp(probe);
  const waiting = Promise.all(Array.from({ length: 10 }, () => reachability.whenReachable(never)));
  const told = vi.fn();
  void waiting.then(told);

  await clock.advance(5_999);
  expect(probe).toHaveBeenCalledTimes(2);
  expect(told).not.toHaveBeenCalled();
  await clock.advance(1);

  await waiting;
  expect(probe).toHaveBeenCalledTimes(3);
  expect(onAnswer).toHaveBeenCalledTimes(1);
  await clock.advance(60_000);
  expect(probe).toHaveBeenCalledTimes(3);
});

it('returns true for an outage, in which a probe got no response, and false for a lost connection only', async () => {
  const probe = vi.fn().mockResolvedValueOnce({}).mockResolvedValueOnce({}).mockRejectedValueOnce(down);
  const { clock, reachability } = setUp(probe);
  const ask = async (): Promise<boolean> => {
    const waiting = reachability.whenReachable(never);
    await clock.advance(3_000);
    return waiting;
  };
  expect(await ask()).toBe(false);
  // Waits for the probe interval, which is not an outage.
  expect(await ask()).toBe(false);

  const early = reachability.whenReachable(never);
  await clock.advance(1_000);
  const late = reachability.whenReachable(never);
  probe.mockResolvedValue({});
  await clock.advance(3_000);
  expect(await Promise.all([early, late])).toEqual([true, true]);
  expect(await ask()).toBe(false);
});

it('treats an error response as a response: the server is up', async () => {
  const { clock, reachability } = setUp(() => Promise.reject(answered(403)));
  const waiting = reachability.whenReachable(never);
  await clock.advance(0);
  await waiting;
});

it('sends another probe for a caller that arrives during a probe, whose response may be older', async () => {
  const answers: ((value: unknown) => void)[] = [];
  const probe = vi.fn(() => new Promise((resolve) => answers.push(resolve)));
  const { clock, reachability } = setUp(probe);
  const first = reachability.whenReachable(never);
  await clock.advance(0);
  const second = vi.fn();
  void reachability.whenReachable(never).then(second);

  answers[0]?.({});
  await first;
  expect(second).not.toHaveBeenCalled();
  await clock.advance(3_000);
  answers[1]?.({});
  await clock.advance(0);

  expect(second).toHaveBeenCalled();
});

it('stops probing when no caller waits', async () => {
  const probe = vi.fn().mockRejectedValue(down);
  const { clock, reachability } = setUp(probe);
  const abort = new AbortController();
  const waiting = reachability.whenReachable(abort.signal);
  await clock.advance(0);
  abort.abort();
  await waiting;

  await clock.advance(60_000);

  expect(probe).toHaveBeenCalledTimes(1);
});

it('resolves all callers when it is closed, and leaves no timer', async () => {
  const { clock, reachability } = setUp(() => Promise.reject(down));
  const waiting = reachability.whenReachable(never);
  await clock.advance(0);

  reachability.close();

  await waiting;
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});
