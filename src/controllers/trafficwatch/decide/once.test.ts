import { describe, expect, it, vi } from 'vitest';
import { once } from './once.ts';

describe('once', () => {
  it('works out the same only once, and anew what is another object, equal or not', () => {
    const lengthOf = vi.fn((list: readonly string[]) => list.length);
    const known = once(lengthOf);
    const list = ['a', 'b'];
    expect([known(list), known(list), known([...list]), known(['c'])]).toEqual([2, 2, 2, 1]);
    expect(lengthOf).toHaveBeenCalledTimes(3);
  });

  it('remembers that there is nothing, too', () => {
    const firstOf = vi.fn(([first]: readonly string[]): string | undefined => first);
    const known = once(firstOf);
    const none: string[] = [];
    expect([known(none), known(none)]).toEqual([undefined, undefined]);
    expect(firstOf).toHaveBeenCalledTimes(1);
  });
});
