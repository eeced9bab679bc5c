import { describe, expect, it } from 'vitest';
import { forEachAtOnce } from './forEachAtOnce.ts';

describe('forEachAtOnce', () => {
  it('calls for each item, in order, and never more at a time than allowed', async () => {
    const begun: number[] = [];
    let [running, most] = [0, 0];
    await forEachAtOnce([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    expect([begun, most]).toEqual([[1, 2, 3, 4, 5], 2]);
  });

  it('rejects with the error of a call', async () => {
    const failing = forEachAtOnce([1, 2], 2, (item) =>
      item === 2 ? Promise.reject(new Error('no')) : Promise.resolve(),
    );
    await expect(failing).rejects.toThrow('no');
  });
});
