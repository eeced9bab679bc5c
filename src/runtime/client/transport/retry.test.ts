import { describe, expect, it, vi } from 'vitest';
import { ApiError, TransportError } from '../errors.ts';
import { retryPause, Reachability } from './retry.ts';
import type { TransportRequest } from './types.ts';
import { FakeClock } from '../../process/clock.ts';

const GET: TransportRequest = { method: 'GET', path: '/' };
const POST: TransportRequest = { method: 'POST', path: '/' };
const answered = (status: number, retryAfterMs?: number): ApiError =>
  new ApiError({
    status,
    reason: 'R',
    method: 'GET',
    path: '/',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const lost = new TransportError('lost', { failure: 'connection' });
const unsent = new TransportError('refused', { failure: 'connection', unsent: true });
const calledOff = new TransportError('cancelled', { failure: 'aborted', unsent: true });

describe('retryPause', () => {
  it.each([
    ['a GET whose response was lost', lost, GET, true],
    ['a POST whose response was lost: it may have been executed', lost, POST, false],
    ['a POST that was never sent', unsent, POST, true],
    ['a cancelled call', calledOff, GET, false],
    ['a JSON patch, which is not idempotent', lost, patch('application/json-patch+json'), false],
    ['an apply', lost, patch('application/apply-patch+yaml'), true],
    ['a merge patch', lost, patch('application/merge-patch+json'), true],
    ['a DELETE', lost, { ...GET, method: 'DELETE' as const }, true],
    ['a GET answered 504', answered(504), GET, true],
    ['a GET answered 404', answered(404), GET, false],
    ['a POST answered 503: a proxy may have passed it on', answered(503), POST, false],
    ['a POST answered 503 with Retry-After', answered(503, 100), POST, true],
    ['a POST answered 500 with Retry-After', answered(500, 100), POST, false],
    ['an error that is neither ApiError nor TransportError', new RangeError(), GET, false],
  ])('%s', (_, error, request, repeated) => {
    expect(retryPause(error, request, 1, 0.5) !== undefined).toBe(repeated);
  });

  it('doubles up to 4 s, and is between half and all of the nominal length', () => {
    const pauses = (random: number): unknown[] => [1, 2, 3, 4, 5, 6, 60].map((n) => retryPause(lost, GET, n, random));

    expect(pauses(1)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]);
    expect(pauses(0)).toEqual([125, 250, 500, 1000, 2000, 2000, 2000]);
  });

  it('is never shorter than Retry-After', () => {
    expect(retryPause(answered(429, 7_000), GET, 1, 0)).toBe(7_000);
    expect(retryPause(answered(429, 7_000), GET, 1, 1)).toBe(7_250);
  });
});

function patch(contentType: string): TransportRequest {
  return { method: 'PATCH', path: '/', contentType };
}

const never = new AbortController().signal;
const down = new Error('down');

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
