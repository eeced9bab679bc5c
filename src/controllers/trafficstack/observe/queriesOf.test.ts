import { expect, it } from 'vitest';
import { component, stackOf } from '../testing/stacks.ts';
import { queriesOf } from './answerFeed.ts';

it('belong to the gate and to each component, each once, with the stacks that ask', () => {
  const ready = (query: string) => component('web', { ready: { query } });
  const gated = stackOf([ready('a'), component('db')]);
  gated.spec.upgrade = { query: 'b' };
  const other = { ...stackOf([ready('b')]), metadata: { name: 'other' } };
  const invalid = { ...stackOf([]), spec: undefined as never };
  expect(queriesOf([gated, other, invalid])).toEqual(
    new Map([
      ['b', new Set(['main', 'other'])],
      ['a', new Set(['main'])],
    ]),
  );
});
