import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

/** Tests the rules of .oxlintrc.json that hold in some folders only: oxlint runs once, with one file for each case. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFIG = '.oxlintrc.json';
const DECIDES = 'src/controllers/trafficwatch/decide';
const directory = mkdtempSync(join(tmpdir(), 'traffic-lint-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const VARIABLE = 'let latest: string | undefined;';
const SERVER = "import { createServer } from 'node:http';\nexport const server = createServer();";
const PRINT = "console.log('hello');";
const ASSERT = 'export const sizeOf = (text: string | undefined): number => text!.length;';

/** Each with the rule that it breaks. */
const CASES = [
  { code: VARIABLE, file: `${DECIDES}/variable.ts`, breaks: 'module-state(none)' },
  { code: 'export let latest = 1;', file: `${DECIDES}/exported.ts`, breaks: 'module-state(none)' },
  { code: 'const known = new WeakMap<object, string>();', file: `${DECIDES}/weak.ts`, breaks: 'module-state(none)' },
  {
    code: 'export const known: Map<string, string> = new Map();',
    file: `${DECIDES}/typed.ts`,
    breaks: 'module-state(none)',
  },
  { code: 'const seen = new Set<string>();', file: `${DECIDES}/set.ts`, breaks: 'module-state(none)' },
  { code: VARIABLE, file: 'src/controllers/measurement/report.ts', breaks: 'module-state(none)' },
  { code: VARIABLE, file: 'src/usage/evaluate/percent.ts', breaks: 'module-state(none)' },
  {
    code: "const RANKS: ReadonlyMap<string, number> = new Map([['a', 1]]);",
    file: `${DECIDES}/constant.ts`,
    breaks: undefined,
  },
  {
    code: 'export function f() { const found = new Map(); let n = 0; n += 1; return [found, n]; }',
    file: `${DECIDES}/within.ts`,
    breaks: undefined,
  },
  {
    code: 'export class A { readonly #known = new WeakMap(); }',
    file: `${DECIDES}/owned.ts`,
    breaks: undefined,
  },
  { code: VARIABLE, file: `${DECIDES}/some.test.ts`, breaks: undefined },
  { code: VARIABLE, file: 'src/controllers/trafficwatch/testing/scene.ts', breaks: undefined },
  { code: SERVER, file: 'src/runtime/server/other.ts', breaks: 'eslint(no-restricted-imports)' },
  { code: SERVER.replace('node:http', 'https'), file: 'src/tls.ts', breaks: 'eslint(no-restricted-imports)' },
  { code: SERVER, file: 'src/runtime/server/httpServer.ts', breaks: undefined },
  { code: SERVER, file: 'src/runtime/server/other.test.ts', breaks: undefined },
  { code: PRINT, file: 'src/runtime/print.ts', breaks: 'eslint(no-console)' },
  { code: PRINT, file: 'scripts/print.ts', breaks: undefined },
  { code: ASSERT, file: `${DECIDES}/assert.ts`, breaks: 'typescript(no-non-null-assertion)' },
  { code: ASSERT, file: 'test/integration/assert.ts', breaks: undefined },
] as const;
const RULES: ReadonlySet<string | undefined> = new Set(CASES.map(({ breaks }) => breaks));

/** The rules that files break, in a folder of their own. */
function lint(name: string, files: readonly { readonly file: string; readonly code: string }[], config: string) {
  const root = join(directory, name);
  cpSync(join(ROOT, 'scripts/lint'), join(root, 'scripts/lint'), { recursive: true });
  for (const { file, code } of [...files, { file: CONFIG, code: config }]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), code);
  }
  const args = ['--config', CONFIG, '--format=json'];
  let text: string;
  try {
    text = execFileSync(join(ROOT, 'node_modules/.bin/oxlint'), args, { cwd: root, encoding: 'utf8' });
  } catch (error) {
    text = (error as { stdout: string }).stdout;
  }
  const { diagnostics } = JSON.parse(text) as { diagnostics: { code: string; filename: string }[] };
  const grouped = Map.groupBy(diagnostics, ({ filename }) => filename);
  return new Map([...grouped].map(([file, all]) => [file, all.map(({ code }) => code)]));
}

const CONFIG_TEXT = readFileSync(join(ROOT, CONFIG), 'utf8');
// These rules need no types, whose program takes seconds.
const found = lint('untyped', CASES, CONFIG_TEXT.replaceAll(/"type(Aware|Check)": true/g, '"type$1": false'));

it.each(CASES)('$file with `$code` breaks $breaks', ({ file, breaks }) => {
  const broken = (found.get(file) ?? []).filter((rule) => RULES.has(rule));
  expect([...new Set(broken)]).toEqual(breaks === undefined ? [] : [breaks]);
});

it('types are known: a promise that nobody awaits and an error of the compiler are found', () => {
  const code = "Promise.resolve();\nexport const size: number = 'ten';\n";
  const tsconfig = { file: 'tsconfig.json', code: '{ "compilerOptions": { "strict": true, "types": [] } }' };
  const rules = lint('typed', [{ file: 'src/typed.ts', code }, tsconfig], CONFIG_TEXT);
  expect(rules.get('src/typed.ts')?.sort()).toEqual(['typescript(TS2322)', 'typescript(no-floating-promises)']);
});
