import { expect, it } from 'vitest';
import { nodeVersionProblem } from './nodeVersion.ts';

it.each([
  ['v24.0.0', undefined],
  ['v26.1.0', undefined],
  ['v20.20.0', 'needs Node.js 24 or newer, this is v20.20.0'],
  ['v23.11.1', 'needs Node.js 24 or newer, this is v23.11.1'],
  ['v8.0.0', 'needs Node.js 24 or newer, this is v8.0.0'],
])('of Node.js %s: %s', (version, problem) => {
  expect(nodeVersionProblem(version)).toBe(problem);
});
