import { expect, it } from 'vitest';
import { budgetOfFiles, MOST_STEPS } from './budget.ts';
import { evaluate } from './expression.ts';
import { renderText } from './template.ts';

const LIMIT = /^costs more than 100000 steps: /;
/** Far above what the budget takes, far below what the expressions take without it. */
const DEADLINE_MS = 5_000;

/** Names of `count` values, each made of the one before it. */
function bound(first: string, next: (name: string) => string, body: (name: string) => string, count = 20): string {
  const names = Array.from({ length: count }, (_, n) => `v${n}`);
  const heads = names.map((name, n) => `cel.bind(${name}, ${n === 0 ? first : next(`v${n - 1}`)}, `);
  return `${heads.join('')}${body(`v${count - 1}`)}${')'.repeat(count)}`;
}

const twice = (name: string): string => `${name} + ${name}`;
const pair = (name: string): string => `[${name}, ${name}]`;

const many = Array.from({ length: 20_000 }, (_, n) => ({ n }));
const keys = Object.fromEntries(many.map(({ n }) => [`k${n}`, n]));
const workload = { many, keys, digits: '1'.repeat(5_000), a: 'a'.repeat(50_000), json: '[1],'.repeat(50_000) };

it.each([
  ['lists that double', bound('[1, 2]', twice, (v) => `${v}.size() > 0`)],
  ['texts that double', bound('"abcdefgh"', twice, (v) => `${v}.lowerAscii() == ""`)],
  ['a text in characters', bound('"abcdefgh"', twice, (v) => `${v}.split("").size() > 0`, 15)],
  ['a long separator', bound('["a", "b"]', twice, (v) => `${v}.join(${v}.join("separator")) == ""`, 13)],
  ['loops over bound lists', bound('[1, 2]', twice, (v) => `${v}.all(a, ${v}.all(b, a == a))`, 12)],
  [
    'lists that are twice in a list',
    `cel.bind(w, ${bound('[1]', pair, (v) => v)}, ${bound('[1]', pair, (v) => `${v} == w`)})`,
  ],
  ['a list of lists as a key', bound('[1]', pair, (v) => `{${v}: 1}.size() > 0`)],
  ['a list of lists as an index', bound('[1]', pair, (v) => `workload[${v}] == 1`)],
  ['loops over a large status', 'workload.many.all(a, workload.many.all(b, a.n + b.n >= 0))'],
  ['errors in loops', 'workload.many.exists(a, workload.many.exists(b, b.nope == a.nope))'],
  ['errors that || hides', 'workload.many.exists(a, workload.many.exists(b, a.nope || b.nope || 1/0 > 1))'],
  ['types of large maps', 'workload.many.all(a, ([workload.keys] + []).size() > 0)'],
  ['errors about large maps', 'workload.many.exists(a, true && dyn(workload.keys))'],
  ['a duration of digits', 'duration(workload.digits).getSeconds() > 0'],
  ['searches', 'workload.a.lastIndexOf("b" + workload.a) > 0'],
  ['time zones', 'workload.many.all(a, timestamp("2024-01-01T00:00:00Z").getHours("Europe/Berlin") >= 0)'],
  ['JSON', 'bytes("[" + workload.json + "1]").json().size() > 1'],
])(
  'ends an expression that costs too much: %s',
  (_, expression) => {
    expect(evaluate(expression, { workload })).toEqual({ problem: expect.stringMatching(LIMIT) as unknown });
  },
  DEADLINE_MS,
);

it('limits the types that the check of an expression makes', () => {
  const expression = bound(
    '{1: 1}',
    (name) => `{${name}: ${name}}`,
    (v) => `${v}.size() > 0`,
  );
  expect(evaluate(expression, {})).toStrictEqual({ problem: 'lists and maps are too deep within one another' });
});

it('limits the characters of an expression', () => {
  expect(evaluate(`"${'a'.repeat(4_096)}"`, {})).toStrictEqual({
    problem: 'has 4098 characters: at most 4096 are allowed',
  });
});

it('limits all files of a stack together, also the text that they repeat', () => {
  const budget = budgetOfFiles(5_000);
  const problem = expect.stringMatching(/costs more than the files of a stack may take together: /) as unknown;
  expect(renderText('${self.text}', { self: { text: 'a' } }, budget)).toStrictEqual({ text: 'a' });
  expect(renderText('${self.text}'.repeat(100), { self: { text: 'a' } }, budget)).toEqual({ problem });
  expect(renderText('${self.text}', { self: { text: 'a' } }, budget)).toEqual({ problem });
  const texts = budgetOfFiles(1_000);
  expect(renderText('${self.text}'.repeat(2), { self: { text: 'a'.repeat(16_000) } }, texts)).toEqual({ problem });
});

it('leaves enough for what stacks ask for', () => {
  const budget = budgetOfFiles(MOST_STEPS);
  const services = Array.from({ length: 100 }, () => ({ spec: { clusterIP: 'a', ports: [{ port: 1 }, { port: 2 }] } }));
  const expression = 'services.all(s, has(s.spec.clusterIP) && s.spec.ports.all(p, p.port > 0))';
  expect(evaluate(expression, { services }, budget)).toStrictEqual({ value: true });
  expect(budget.left).toBeGreaterThan(MOST_STEPS * 0.8);
});

it('counts the errors that a macro or an operator hides', () => {
  const budget = budgetOfFiles(MOST_STEPS);
  const list = Array.from({ length: 100 }, () => 1);
  expect(evaluate('items.exists(a, a.nope)', { items: list }, budget)).toHaveProperty('problem');
  expect(budget.left).toBeLessThan(MOST_STEPS - 100 * 100);
  const before = budget.left;
  expect(evaluate('dyn(items) && false', { items: list }, budget)).toStrictEqual({ value: false });
  expect(budget.left).toBeLessThan(before - 350);
});
