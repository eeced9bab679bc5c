import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { PacedQueue, WorkQueue } from './workqueue.ts';

const running = new AbortController().signal;

describe('WorkQueue', () => {
  it('returns keys in the order of their addition', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect([await queue.get(running), await queue.get(running), await queue.get(running)]).toEqual(['a', 'b', 'c']);
  });

  it('keeps a key once, at its first position, if it is added several times', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect(queue.length).toBe(2);
    expect(await queue.get(running)).toBe('a');
  });

  it('gives a key at once to the worker that waited longest', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    const workers = [queue.get(running), queue.get(running)];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(workers)).toEqual(['a', 'b']);
  });

  it('returns a key again after done() if it was added while being processed', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    await queue.get(running);
    queue.add('a');
    queue.add('a');
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(queue.length).toBe(1);
  });

  it('places a key that was added again after the waiting keys', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    await queue.get(running);
    queue.add('a');
    queue.add('b');
    queue.done('a');
    expect([await queue.get(running), await queue.get(running)]).toEqual(['b', 'a']);
  });

  it('ignores done() for a key that is not being processed', () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    queue.done('a');
    expect(queue.length).toBe(1);
  });

  it('ends get() without a key when its signal is aborted, and loses no key', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    const stop = new AbortController();
    const waiting = queue.get(stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
    queue.add('a');
    expect(await queue.get(stop.signal)).toBeUndefined();
    expect(await queue.get(running)).toBe('a');
  });
});

describe('delays', () => {
  it('adds a key after its delay, not before', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('a', 1000);
    await clock.advance(999);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
  });

  it.each([
    ['the later one came first', [1000, 100]],
    ['the sooner one came first', [100, 1000]],
  ])('uses the shorter of two delays: %s', async (_why, [first, second]) => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('a', first!);
    queue.addAfter('a', second!);
    await clock.advance(100);
    expect(await queue.get(running)).toBe('a');
    queue.done('a');
    await clock.advance(10_000);
    expect(queue.length).toBe(0);
  });

  it.each([0, -1, NaN])('adds at once for a delay of %d', (ms) => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.addAfter('a', ms);
    expect(queue.length).toBe(1);
  });
});

describe('backoff', () => {
  it('doubles from 5 ms with each failure of the key, up to 30 s', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    const delays: number[] = [];
    for (let failure = 0; failure < 15; failure++) {
      const start = clock.monotonic();
      queue.addRateLimited('a');
      while (queue.length === 0) await clock.advance(5);
      delays.push(clock.monotonic() - start);
      queue.done((await queue.get(running))!);
    }
    const doubled = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 20_480];
    expect(delays).toEqual([...doubled, 30_000, 30_000]);
  });

  it('counts failures per key, and restarts after forget()', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    for (let failure = 0; failure < 10; failure++) queue.addRateLimited('a');
    queue.forget('b');
    queue.addRateLimited('b');
    await clock.advance(5);
    expect(queue.length).toBe(2);
    queue.forget('a');
    expect(queue.failures('a')).toBe(0);
  });

  it('waits at least atLeastMs', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addRateLimited('a', 2000);
    await clock.advance(1999);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(queue.length).toBe(1);
  });
});

describe('shutDown', () => {
  it('returns the waiting keys, accepts no new ones, and resolves when all are done', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    queue.addAfter('later', 10);
    queue.add('a');
    let drained = false;
    const down = queue.shutDown().then(() => (drained = true));
    queue.add('b');
    queue.addAfter('c', 1);
    await clock.advance(100);
    expect(clock.pending).toBe(0);
    expect(await queue.get(running)).toBe('a');
    expect(await queue.get(running)).toBeUndefined();
    expect(drained).toBe(false);
    queue.done('a');
    await down;
  });

  it('ends the get() of waiting workers', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    const worker = queue.get(running);
    await queue.shutDown();
    expect(await worker).toBeUndefined();
  });

  it('waits for the keys being processed', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    await queue.get(running);
    const drained = vi.fn();
    const down = queue.shutDown().then(drained);
    await new Promise(setImmediate);
    expect(drained).not.toHaveBeenCalled();
    queue.done('a');
    await down;
  });

  it('still processes a key that was added again before the shutdown', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    await queue.get(running);
    queue.add('a');
    const down = queue.shutDown();
    queue.done('a');
    expect(await queue.get(running)).toBe('a');
    queue.done('a');
    await down;
  });
});

describe('metrics', () => {
  it('reports depth, additions, retries and the waiting time of a key', async () => {
    const metrics = { depth: vi.fn(), added: vi.fn(), retried: vi.fn(), taken: vi.fn() };
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, metrics });
    queue.add('a');
    queue.add('a');
    await clock.advance(1500);
    await queue.get(running);
    queue.addRateLimited('a');
    queue.add('a');
    queue.add('a');
    expect(metrics.added).toHaveBeenCalledTimes(2);
    expect(metrics.taken).toHaveBeenCalledExactlyOnceWith(1.5);
    expect(metrics.retried).toHaveBeenCalledTimes(1);
    expect(metrics.depth.mock.calls).toEqual([[1], [0]]);
  });
});

describe('PacedQueue', () => {
  const scene = () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    /** Takes the waiting keys, as a worker that is never busy. */
    const taken = async (): Promise<string[]> => {
      const keys: string[] = [];
      while (queue.length > 0) keys.push((await queue.get(running))!);
      for (const key of keys) queue.done(key);
      return keys;
    };
    return { clock, queue, taken, paced: new PacedQueue(queue, clock, 1_000) };
  };

  it('adds each key at once, then once in an interval, the last time after the last addition', async () => {
    const { clock, taken, paced } = scene();
    const times: Record<string, number[]> = { a: [], b: [] };
    for (let ms = 0; ms <= 5_000; ms += 100) {
      if (ms <= 2_500) paced.add('a');
      if (ms === 300) paced.add('b');
      for (const key of await taken()) times[key]?.push(ms);
      await clock.advance(100);
    }
    expect(times).toEqual({ a: [0, 1_000, 2_000, 3_000], b: [300] });
  });

  it('adds a key after a reconcile that the queue had planned earlier', async () => {
    const { clock, queue, taken, paced } = scene();
    paced.add('a');
    expect(await taken()).toEqual(['a']);
    queue.addAfter('a', 500);
    paced.add('a');
    await clock.advance(600);
    expect(await taken()).toEqual(['a']);
    paced.add('a');
    await clock.advance(400);
    expect(await taken()).toEqual(['a']);
  });
});
