import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { Controller, type ControllerMetrics, type ControllerOptions, type Reconcile } from './controller.ts';
import {
  ApiError,
  IncompleteError,
  NotLeaderError,
  RetryError,
  TerminalError,
  TransportError,
  WaitingError,
} from '../client/errors.ts';

describe('Controller', () => {
  it('reconciles each added key once', async () => {
    const { controller, reconcile, clock } = start({});
    for (const key of ['a', 'b', 'b']) controller.queue.add(key);
    await clock.advance(0);
    expect(reconcile.mock.calls.map(([key]) => key)).toEqual(['a', 'b']);
  });

  it('reconciles one key per worker concurrently, and never the same key twice', async () => {
    const ends: (() => void)[] = [];
    const reconcile = vi.fn<Reconcile>(() => new Promise((resolve) => ends.push(() => resolve(undefined))));
    const { controller, clock } = start({ reconcile, workers: 2 });
    for (const key of ['a', 'b', 'c']) controller.queue.add(key);
    await clock.advance(0);
    controller.queue.add('a');
    await clock.advance(0);
    expect(reconcile.mock.calls.map(([key]) => key)).toEqual(['a', 'b']);
    ends[1]!();
    await clock.advance(0);
    expect(reconcile.mock.calls.map(([key]) => key)).toEqual(['a', 'b', 'c']);
    ends[0]!();
    await clock.advance(0);
    expect(reconcile.mock.calls.map(([key]) => key)).toEqual(['a', 'b', 'c', 'a']);
  });

  it('calls onIdle when no key is waiting or being reconciled', async () => {
    const ends: (() => void)[] = [];
    const reconcile = vi.fn<Reconcile>(() => new Promise((resolve) => ends.push(() => resolve(undefined))));
    const onIdle = vi.fn();
    const { controller, clock } = start({ reconcile, workers: 2, onIdle });
    const end = async (which: number): Promise<void> => {
      ends[which]!();
      await clock.advance(0);
    };
    for (const key of ['a', 'b']) controller.queue.add(key);
    await clock.advance(0);
    controller.queue.add('a');
    await end(0);
    await end(1);
    expect(onIdle).not.toHaveBeenCalled();
    await end(2);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it('requeues a key after requeueAfterMs', async () => {
    const { controller, reconcile, clock, metrics } = start({});
    reconcile.mockResolvedValueOnce({ requeueAfterMs: 10_000 });
    controller.queue.add('a');
    await clock.advance(9_999);
    expect(reconcile).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(reconcile).toHaveBeenCalledTimes(2);
    expect(metrics.reconciled.mock.calls.map(([, result]) => result)).toEqual(['requeue_after', 'success']);
  });
});

const api = (status: number, retryAfterMs?: number): ApiError =>
  new ApiError({ status, reason: 'TooManyRequests', method: 'GET', path: '/', retryAfterMs });

describe('the requeue after an error', () => {
  it.each([
    ['an error: after its backoff of 5 ms', new Error('x'), 'error', 'Error', 5],
    [
      'no response: after its backoff',
      new TransportError('x', { failure: 'deadline' }),
      'error',
      'TransportDeadline',
      5,
    ],
    ['Retry-After is obeyed', api(429, 3000), 'error', 'TooManyRequests', 3000],
    ['a Retry-After of a day is shortened', api(429, 86_400_000), 'error', 'TooManyRequests', 300_000],
    [
      'Retry-After of a failed write is obeyed',
      new IncompleteError([{ reason: 'WriteFailed', message: 'x', retryAfterMs: 3000 }]),
      'error',
      'IncompleteError',
      3000,
    ],
    ['RetryError: after its own time', new RetryError('x', 700), 'retry_after', 'Retry', 700],
    [
      'RetryError tells its cause',
      new RetryError('x', 700, { cause: api(429) }),
      'retry_after',
      'TooManyRequests',
      700,
    ],
    [
      'RetryError: not before the Retry-After of its cause',
      new RetryError('x', 700, { cause: api(429, 2_000) }),
      'retry_after',
      'TooManyRequests',
      2_000,
    ],
    ['WaitingError: after its time, no error', new WaitingError('NoNodes', 'x', 700), 'waiting', undefined, 700],
    ['TerminalError: not again', new TerminalError('InvalidSpec', 'x'), 'terminal', 'InvalidSpec', undefined],
    ['not the leader: not again, no error', new NotLeaderError(), 'not_leader', undefined, undefined],
    ['a thrown value that is not an Error: after its backoff', 'text', 'error', 'Unknown', 5],
  ])('%s', async (_why, error, outcome, reason, againAfterMs) => {
    const { controller, reconcile, clock, metrics } = start({});
    reconcile.mockRejectedValueOnce(error);
    controller.queue.add('a');
    await clock.advance((againAfterMs ?? 3_600_000) - 1);
    expect(reconcile).toHaveBeenCalledTimes(1);
    expect(metrics.reconciled.mock.calls[0]![1]).toBe(outcome);
    expect(metrics.failed.mock.calls).toEqual(reason === undefined ? [] : [['test', reason]]);
    await clock.advance(1);
    expect(reconcile).toHaveBeenCalledTimes(againAfterMs === undefined ? 1 : 2);
  });

  it('resets the backoff when a reconcile succeeds', async () => {
    const { controller, reconcile, clock } = start({});
    for (let failure = 0; failure < 5; failure++) reconcile.mockRejectedValueOnce(new Error('x'));
    controller.queue.add('a');
    await clock.advance(1000);
    expect(controller.queue.failures('a')).toBe(0);
  });
});

describe('a broken reconcile', () => {
  it('does not end the loop if it throws synchronously', async () => {
    const { controller, reconcile, clock } = start({});
    reconcile.mockImplementationOnce(() => {
      throw new TypeError('not a function');
    });
    controller.queue.add('a');
    controller.queue.add('b');
    await clock.advance(10);
    expect(reconcile.mock.calls.map(([key]) => key)).toEqual(['a', 'b', 'a']);
  });

  it('does not end the loop if counting its failure throws, too', async () => {
    const { controller, reconcile, clock, metrics } = start({});
    metrics.failed.mockImplementationOnce(() => {
      throw new Error('metric');
    });
    reconcile.mockRejectedValueOnce(new Error('x'));
    controller.queue.add('a');
    await clock.advance(10);
    expect(reconcile).toHaveBeenCalledTimes(2);
  });

  it('has its signal aborted at the deadline, and is retried', async () => {
    const { controller, reconcile, clock, metrics } = start({ reconcileTimeoutMs: 1000 });
    reconcile.mockImplementationOnce(untilAborted);
    controller.queue.add('a');
    await clock.advance(1000);
    expect(metrics.failed).toHaveBeenCalledExactlyOnceWith('test', 'ReconcileDeadline');
    await clock.advance(5);
    expect(reconcile).toHaveBeenCalledTimes(2);
  });

  it('is reported by stuck() if it still runs 60 s after its deadline', async () => {
    const { controller, clock } = start({ reconcile: () => new Promise(() => undefined), reconcileTimeoutMs: 1000 });
    controller.queue.add('team/a');
    await clock.advance(61_000);
    expect(controller.stuck()).toBeUndefined();
    await clock.advance(1);
    expect(controller.stuck()).toBe('reconcile of team/a has run for 61 s, its deadline is 1 s');
  });
});

describe('stopping', () => {
  it('ends at once if no reconcile is running, and leaves no timer', async () => {
    const { running, stop, clock } = start({ workers: 3 });
    stop.abort();
    await running;
    expect(clock.pending).toBe(0);
  });

  it('finishes the running reconcile and the waiting keys, and accepts no new ones', async () => {
    let end: () => void = () => undefined;
    const reconcile = vi.fn<Reconcile>().mockResolvedValue({ requeueAfterMs: 1 });
    reconcile.mockImplementationOnce(() => new Promise((resolve) => (end = () => resolve(undefined))));
    const { controller, running, stop, clock } = start({ reconcile });
    controller.queue.add('a');
    controller.queue.add('b');
    await clock.advance(0);
    stop.abort();
    await clock.advance(0);
    controller.queue.add('c');
    expect(reconcile).toHaveBeenCalledTimes(1);
    end();
    await running;
    expect(reconcile.mock.calls.map(([key]) => key)).toEqual(['a', 'b']);
  });

  it('aborts running reconciles after 1.5 s and ends, even if they ignore their signal', async () => {
    const signals: AbortSignal[] = [];
    const reconcile: Reconcile = (_key, signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    };
    const { controller, running, stop, clock } = start({ reconcile });
    controller.queue.add('a');
    await clock.advance(0);
    stop.abort();
    await clock.advance(1_499);
    expect(signals[0]!.aborted).toBe(false);
    await clock.advance(1);
    expect(signals[0]!.aborted).toBe(true);
    await running;
  });
});

function start(options: Partial<ControllerOptions>) {
  const clock = new FakeClock();
  const reconcile = vi.fn<Reconcile>(options.reconcile ?? (() => Promise.resolve(undefined)));
  const queue = { depth: vi.fn(), added: vi.fn(), retried: vi.fn(), taken: vi.fn() };
  const metrics = { reconciled: vi.fn<ControllerMetrics['reconciled']>(), failed: vi.fn(), queue: () => queue };
  const logger = pino({ level: 'silent' });
  const controller = new Controller({ name: 'test', logger, clock, metrics, ...options, reconcile });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  return { controller, reconcile, clock, metrics, stop, running };
}

const untilAborted: Reconcile = (_key, signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new TransportError('called off', { failure: 'aborted' })));
  });
