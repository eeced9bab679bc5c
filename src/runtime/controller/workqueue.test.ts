import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { WorkQueue } from './workqueue.ts';

const running = new AbortController().signal;

describe('WorkQueue', () => {
  it('hands keys out first come, first served', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect([await queue.get(running), await queue.get(running), await queue.get(running)]).toEqual(['a', 'b', 'c']);
  });

  it('keeps a key once, at its first place, however often it is added', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    expect(queue.length).toBe(2);
    expect(await queue.get(running)).toBe('a');
  });

  it('gives a waiting worker the key at once, and the worker that waited longest first', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    const workers = [queue.get(running), queue.get(running)];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all(workers)).toEqual(['a', 'b']);
  });

  it('hands a key out again after done() when it was added while being processed', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    await queue.get(running);
    queue.add('a');
    queue.add('a');
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(queue.length).toBe(1);
  });

  it('puts a key that was added again behind those that wait', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    await queue.get(running);
    queue.add('a');
    queue.add('b');
    queue.done('a');
    expect([await queue.get(running), await queue.get(running)]).toEqual(['b', 'a']);
  });

  it('ignores done() for a key that nobody has', () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    queue.add('a');
    queue.done('a');
    expect(queue.length).toBe(1);
  });

  it('ends get() without a key when its signal is aborted, and loses no key by it', async () => {
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
  it('adds a key when its delay has passed, not before', async () => {
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
  ])('takes the sooner of two delays: %s', async (_why, [first, second]) => {
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

  it('counts each key on its own, and from the start again after forget()', async () => {
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

  it('waits at least as long as it is told', async () => {
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
  it('hands out what waits, takes nothing new, and resolves when all of it was given back', async () => {
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

  it('dismisses workers that wait', async () => {
    const queue = new WorkQueue({ clock: new FakeClock() });
    const worker = queue.get(running);
    await queue.shutDown();
    expect(await worker).toBeUndefined();
  });

  it('waits for the keys that workers have', async () => {
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
  it('tells depth, additions, retries and how long a key waited', async () => {
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
