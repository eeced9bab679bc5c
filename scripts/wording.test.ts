import { expect, it } from 'vitest';
import { placesIn } from './wording/wording.ts';

it.each([
  ['Whoever it is: somebody else.', 'somebody else'],
  ['the label and that of the node', 'that of'],
  ['another one waits', 'another one'],
  ['in place of a Deployment', 'in place of'],
  ['It starts anew.', 'anew'],
  ['beside the stack', 'beside'],
  ['people are told', 'is told'],
  ['It tells that a pod waits.', 'is told'],
  ['It does not run any more.', 'any more'],
  ['The label stays as it is.', 'stays as it is'],
  ['The node waits, too.', 'too, at the end'],
  ['/** Of a node. */', 'a doc comment without a subject'],
  ['/**\n * Those that wait. */', 'a doc comment without a subject'],
])('%j has the pattern %s', (text, name) => {
  expect(placesIn(text, 'a.ts').map(({ pattern }) => pattern)).toEqual([name]);
});

it.each(['no more than two', 'There is too much.', 'besides the node', '/** Offers a node. */', '/** Whatever. */'])(
  '%j has none',
  (text) => {
    expect(placesIn(text, 'a.ts')).toEqual([]);
  },
);

it('a place has the line of its text', () => {
  expect(placesIn('one\n two anew\n', 'a.md')).toEqual([{ pattern: 'anew', at: 'a.md:2: two anew' }]);
});
