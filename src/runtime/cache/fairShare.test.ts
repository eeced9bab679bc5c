import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairShare, heapBytesOf, shareOf, type Held } from './fairShare.ts';

/** A share, and the bodies that it keeps, as `group bytes`. */
function shareWith(most: number) {
  const share = new FairShare(most);
  const kept = new Set<Held>();
  const dropped: string[] = [];
  const take = (group: string, bytes: number): Held | undefined => {
    const drop = (): void => {
      kept.delete(held);
      dropped.push(`${group} ${bytes}`);
    };
    const held: Held = { group, bytes, drop };
    const taken = share.take(held);
    if (taken !== undefined) kept.add(taken);
    return taken;
  };
  const bytesOf = (group: string): number => {
    return [...kept].filter((each) => each.group === group).reduce((sum, { bytes }) => sum + bytes, 0);
  };
  return { share, kept, dropped, take, bytesOf };
}

describe('FairShare', () => {
  it('gives one group everything while no other needs any', () => {
    const { take } = shareWith(100);
    expect([take('a', 60), take('a', 40), take('a', 1)].map((held) => held !== undefined)).toEqual([true, true, false]);
  });

  it('takes from the largest group what a smaller group needs, up to equal shares', () => {
    const { take, dropped, bytesOf } = shareWith(100);
    for (let n = 0; n < 6; n += 1) take('a', 10);
    for (let n = 0; n < 4; n += 1) take('b', 10);
    expect(take('c', 20)).toBeDefined();
    expect(dropped).toEqual(['a 10', 'a 10']);
    // With this, it would have more than a third.
    expect(take('c', 20)).toBeUndefined();
    expect(['a', 'b', 'c'].map(bytesOf)).toEqual([40, 40, 20]);
  });

  it('has room for a small group, however many large ones there are', () => {
    const { take, bytesOf } = shareWith(1_000);
    for (let n = 0; n < 500; n += 1) take(`hostile-${n}`, 1_000);
    expect([take('shop', 1), bytesOf('shop')]).toEqual([expect.anything(), 1]);
  });

  it('has the room of what is released, once', () => {
    const { share, take, dropped } = shareWith(100);
    const [first, second] = [take('a', 60)!, take('a', 40)!];
    share.release(first);
    share.release(first);
    expect([share.bytes, share.usedRatio]).toEqual([40, 0.4]);
    take('b', 50);
    take('b', 10);
    expect(take('c', 30)).toBeDefined();
    expect(dropped).toEqual(['b 50']);
    share.release(second);
    expect(share.bytes).toBe(40);
  });

  it('is one for all caches of a transport', () => {
    const transport = {};
    expect(shareOf(transport)).toBe(shareOf(transport));
    expect(shareOf({})).not.toBe(shareOf(transport));
  });

  const STEP = fc.record({
    group: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    bytes: fc.integer({ min: 1, max: 70 }),
    release: fc.nat(9),
  });

  it('keeps each group within its equal share whole, in any order of events', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 80 }), (steps) => {
        const most = 100;
        const { share, kept, take, bytesOf } = shareWith(most);
        for (const { group, bytes, release } of steps) {
          const before = new Map([...kept].map((each) => [each.group, bytesOf(each.group)]));
          const equal = most / new Set([...before.keys(), group]).size;
          const isKept = take(group, bytes) !== undefined;
          expect(share.bytes).toBeLessThanOrEqual(most);
          expect(share.bytes).toBe([...kept].reduce((sum, each) => sum + each.bytes, 0));
          if ((before.get(group) ?? 0) + bytes <= equal) expect(isKept).toBe(true);
          for (const [other, had] of before) if (had <= equal) expect(bytesOf(other)).toBeGreaterThanOrEqual(had);
          const gone = [...kept][release];
          if (gone === undefined) continue;
          share.release(gone);
          kept.delete(gone);
        }
      }),
    );
  });
});

const many = <T>(make: (n: number) => T, count = 5_000): T[] => Array.from({ length: count }, (_, n) => make(n));
const short = (n: number): string => (n * 1_000).toString(36);

it.each<[what: string, value: unknown, measured: number]>([
  ['a long text', { data: 'x'.repeat(100_000) }, 100_065],
  ['a text that is not Latin', { data: '日'.repeat(50_000) }, 99_904],
  ['short names', { labels: Object.fromEntries(many((n) => [short(n), ''])) }, 317_661],
  ['empty objects', { env: many(() => ({})) }, 320_089],
  ['empty arrays', { env: many(() => []) }, 200_160],
  ['numbers', { a: many((n) => n + 0.5) }, 40_091],
  [
    'small maps with different names',
    { terms: many((n) => ({ labels: { [short(n)]: 'a', [`z${short(n)}`]: 'b' } }), 2_000) },
    498_916,
  ],
])(
  'the bytes in the heap are not taken for much less than Node.js 24 was measured to use: %s',
  (_, value, measured) => {
    expect(heapBytesOf(value)).toBeGreaterThan(0.75 * measured);
    expect(heapBytesOf(value)).toBeLessThan(3.5 * measured);
  },
);

it('the bytes of the ordinary are at most a few times its length', () => {
  const value = {
    name: 'web',
    image: 'registry.example.org/shop/web:1',
    ports: [{ name: 'http', containerPort: 8_080 }],
    tty: true,
    stdin: null,
  };
  expect(heapBytesOf(value)).toBeLessThan(6 * JSON.stringify(value).length);
});
