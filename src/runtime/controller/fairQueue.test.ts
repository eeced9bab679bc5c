import { expect, it } from 'vitest';
import { FairQueue, inTurns } from './fairQueue.ts';

const groupOf = (item: string): string => item.charAt(0);

it.each([
  ['a group with many items delays others by one item', ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'], 'a1 b1 c1 a2 a3 a4'],
  ['the items of a group keep their order', ['b2', 'a1', 'b1', 'a2'], 'b2 a1 b1 a2'],
  ['one group alone keeps its order', ['a3', 'a1', 'a2'], 'a3 a1 a2'],
  ['nothing', [], ''],
])('groups take turns: %s', (_, items, order) => {
  expect(inTurns(items, groupOf).join(' ')).toBe(order);
});

it('an urgent item precedes the others of its group only, and an added group waits for its turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) queue.add(groupOf(item), item);
  const order = [queue.take()];
  queue.add('a', 'a!', true);
  queue.add('c', 'c1');
  for (let next = queue.take(); next !== undefined; next = queue.take()) order.push(next);
  expect(order.map((each) => each?.item).join(' ')).toBe('a1 b1 a! c1 b2 a2 a3');
  expect(order.filter((each) => each?.isUrgent).map((each) => each?.group)).toEqual(['a']);
  queue.add('d', 'd1');
  queue.clear();
  expect(queue.take()).toBeUndefined();
});
