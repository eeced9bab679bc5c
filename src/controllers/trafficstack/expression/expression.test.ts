import { expect, it } from 'vitest';
import { evaluate } from './expression.ts';

const VARIABLES = {
  workload: { spec: { replicas: 3 }, status: { readyReplicas: 2, ratio: 0.5, conditions: [{ type: 'Ready' }] } },
  self: { addresses: ['a', 'b'] },
};

it.each([
  ['a whole number is an int', 'workload.spec.replicas - 1 == workload.status.readyReplicas', true],
  ['a fraction is a double', 'workload.status.ratio < 0.6', true],
  ['macros', 'workload.status.conditions.exists(c, c.type == "Ready")', true],
  ['a missing field can be asked for', 'has(workload.status.collisionCount)', false],
  ['a missing field can have a value of its own', 'workload.status.?updatedReplicas.orValue(0) == 0', true],
  ['texts', 'self.addresses.map(a, a + ":1").join(",")', 'a:1,b:1'],
])('evaluates: %s', (_, expression, value) => {
  expect(evaluate(expression, VARIABLES)).toStrictEqual({ value });
});

it.each([
  ['a variable that there is not', 'nope.status', /^Unknown variable: nope$/],
  ['a field that is missing', 'workload.status.nope > 1', /^No such key: nope$/],
  ['what is no expression', '1 +', /^Unexpected token: EOF$/],
  ['types that do not fit', '"a" + 1', /no such overload/],
  ['a pattern, which may take years', 'self.addresses[0].matches("(a+)+$")', /^matches\(\) is not available/],
  ['loops in loops', '[1].map(a, [1].map(b, [1].map(c, c)))', /at most 2 macros/],
  ['what reaches into JavaScript', 'workload.constructor', /^No such key: constructor$/],
  ['nesting without end', `${'('.repeat(200)}1${')'.repeat(200)}`, /depth/i],
])('says what is wrong with %s', (_, expression, problem) => {
  expect(evaluate(expression, VARIABLES)).toEqual({ problem: expect.stringMatching(problem) as unknown });
});
