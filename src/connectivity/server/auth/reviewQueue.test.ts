import { beforeEach, describe, expect, it } from 'vitest';
import { ReviewQueue } from './reviewQueue.ts';

describe('ReviewQueue', () => {
  let queue: ReviewQueue;
  /** The reviews that began or were refused, by their names in the test, in this order. */
  let events: string[];
  let ends: Map<string, () => void>;

  beforeEach(() => {
    queue = new ReviewQueue();
    events = [];
    ends = new Map();
  });

  function ask(name: string, source: string, pod = name): void {
    void queue.enter({ source, pod }).then((end) => {
      events.push(end === undefined ? `${name} refused` : name);
      if (end !== undefined) ends.set(name, end);
    });
  }
  const idle = () => new Promise((resolve) => setImmediate(resolve));

  /** Ends a review; returns what happened since the last call. */
  async function end(name: string): Promise<string[]> {
    ends.get(name)?.();
    return news();
  }
  async function news(): Promise<string[]> {
    await idle();
    return events.splice(0);
  }

  /** As many reviews as run at a time, of other pods. */
  async function fill(): Promise<void> {
    for (let n = 0; n < 20; n++) ask(`running ${n}`, `running ${n}`);
    await news();
  }

  it('gives turns to sources in rotation', async () => {
    await fill();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) ask(name, name[0]!);
    const order: string[] = [];
    for (let n = 0; n < 6; n++) order.push(...(await end(`running ${n}`)));
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('has one review of a pod under way, and lets another source wait for it', async () => {
    ask('first', 'a', 'pod');
    ask('second', 'b', 'pod');
    ask('third', 'b', 'other');
    expect(await news()).toEqual(['first', 'third']);
    expect(await end('first')).toEqual(['second']);
  });

  it('has one place for each pod and source', async () => {
    ask('first', 'a', 'pod');
    await news();
    ask('second', 'a', 'pod');
    ask('third', 'a', 'pod');
    expect(await news()).toEqual(['third refused']);
    ask('fourth', 'b', 'pod');
    expect([await end('first'), await end('second')]).toEqual([['second'], ['fourth']]);
  });

  it('reserves a pod for a source that had to wait for it', async () => {
    ask('forged', 'f', 'pod');
    await fill();
    ask('honest', 'h', 'pod');
    ask('filler', 'other');
    // The turn of the honest source comes while the pod is under way.
    expect(await end('running 0')).toEqual(['running 19']);
    expect(await end('running 1')).toEqual(['filler']);
    ask('forged again', 'f2', 'pod');
    expect(await end('forged')).toEqual(['honest']);
  });

  it('reserves one pod at a time for a source', async () => {
    for (const pod of ['pod 1', 'pod 2']) ask(`first of ${pod}`, 'f1', pod);
    await fill();
    for (const pod of ['pod 1', 'pod 2']) ask(`forged of ${pod}`, 'f2', pod);
    ask('honest', 'h', 'pod 2');
    // Now all three have had their turn in vain.
    for (const running of ['running 0', 'running 1', 'running 2']) await end(running);
    for (const other of ['filler', 'other 1', 'other 2']) ask(other, other);
    expect(await news()).toEqual(['filler']);
    expect(await end('first of pod 1')).toEqual(['other 1']);
    expect(await end('first of pod 2')).toEqual(['other 2']);
    expect(await end('filler')).toEqual(['forged of pod 1']);
    expect(await end('other 1')).toEqual(['honest']);
  });

  it('lets 16 sources wait for a pod', async () => {
    await fill();
    for (let n = 0; n < 17; n++) ask(`number ${n}`, `source ${n}`, 'pod');
    expect(await news()).toEqual(['number 16 refused']);
  });

  it('refuses the newest of the source with most, once 2,000 wait', async () => {
    await fill();
    for (let n = 0; n < 1_990; n++) ask(`forged ${n}`, 'forger');
    for (let n = 0; n < 10; n++) ask(`agent ${n}`, `address ${n}`);
    expect(await news()).toEqual([]);
    ask('newcomer', 'new');
    expect(await news()).toEqual(['forged 1989 refused']);
    ask('forged again', 'forger');
    expect(await news()).toEqual(['forged again refused']);
    // Refused tokens leave nothing behind: their pods may be claimed again.
    expect(await end('running 0')).toEqual(['forged 0']);
    ask('retry', 'another', 'forged 1989');
    expect(await news()).toEqual([]);
  });

  it('refuses a newcomer if nobody has more than one of the 2,000', async () => {
    await fill();
    for (let n = 0; n < 2_001; n++) ask(`agent ${n}`, `address ${n}`);
    expect(await news()).toEqual(['agent 2000 refused']);
  });
});
