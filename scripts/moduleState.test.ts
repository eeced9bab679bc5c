import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { expect, it } from 'vitest';

/** Tests what eslint.config.mjs forbids at the top level of a module that decides. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const RULE = 'no-restricted-syntax';

const eslint = new ESLint({
  cwd: ROOT,
  // The rule needs no types, and loading the whole project takes ten seconds.
  overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
  ruleFilter: ({ ruleId }) => ruleId === RULE,
});

async function problems(code: string, file = 'src/controllers/trafficwatch/decide/plan.ts'): Promise<number> {
  const [result] = await eslint.lintText(code, { filePath: file });
  const found = result!.messages;
  expect(found.filter(({ ruleId }) => ruleId !== RULE)).toEqual([]);
  return found.length;
}

it.each([
  ['a variable', 'let latest: string | undefined;'],
  ['an exported variable', 'export let latest = 1;'],
  ['a WeakMap', 'const known = new WeakMap<object, string>();'],
  ['a Map whose type can change', 'export const known: Map<string, string> = new Map();'],
  ['a Set', 'const seen = new Set<string>();'],
])('%s of a module is forbidden where decisions are made', async (_what, code) => {
  expect(await problems(code)).toBe(1);
  expect(await problems(code, 'src/controllers/measurement/report.ts')).toBe(1);
  expect(await problems(code, 'src/usage/evaluate/percent.ts')).toBe(1);
});

it.each([
  ['a constant table', "const RANKS: ReadonlyMap<string, number> = new Map([['a', 1]]);"],
  ['a Map within a function', 'export function f() { const found = new Map(); let n = 0; n += 1; return [found, n]; }'],
  ['a WeakMap that an instance owns', 'export class A { readonly #known = new WeakMap(); }'],
])('%s is allowed', async (_what, code) => {
  expect(await problems(code)).toBe(0);
});

it('leaves tests and what they share alone', async () => {
  const code = 'let scene: string | undefined;';
  expect(await problems(code, 'src/controllers/trafficwatch/decide/decidePlan.test.ts')).toBe(0);
  expect(await problems(code, 'src/controllers/trafficwatch/testing/scene.ts')).toBe(0);
});
