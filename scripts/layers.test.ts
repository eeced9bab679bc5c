import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Tests the layer rules, and the number of files in a folder. */
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const MOST_FILES = 20;

/** A forbidden import and its rule. Paths are relative to src/ unless they begin with test/. */
const FORBIDDEN: readonly (readonly [from: string, to: string, rule: string])[] = [
  ['controllers/a/decide/plan.ts', 'runtime/process/clock.ts', 'pure-decisions'],
  ['placement/policy.ts', 'controllers/a/act/act.ts', 'placement-knows-no-controller'],
  ['weights/zone/published.ts', 'weights/route53/route53.ts', 'aws-is-loaded-lazily'],
  ['weights/ramp/step.ts', 'runtime/process/clock.ts', 'pure-decisions'],
  ['controllers/a/decide/plan.ts', 'node:fs', 'pure-decisions-core-modules'],
  ['controllers/a/decide/plan.ts', 'usage/pass/feed.ts', 'decisions-see-what-was-evaluated'],
  ['controllers/a/decide/plan.ts', 'controllers/a/act/act.ts', 'decisions-come-before-acts'],
  ['controllers/a/observe/observe.ts', 'controllers/a/decide/plan.ts', 'observations-come-before-decisions'],
  ['controllers/a/observe/observe.ts', 'controllers/a/act/act.ts', 'observations-come-before-decisions'],
  ['controllers/a/model/graph.ts', 'controllers/a/observe/observe.ts', 'models-come-first'],
  ['controllers/a/model/graph.ts', 'controllers/a/decide/plan.ts', 'models-come-first'],
  ['usage/evaluate/percent.ts', 'usage/pass/feed.ts', 'evaluation-knows-no-pass'],
  ['usage/series/decoder.ts', 'usage/evaluate/percent.ts', 'series-know-no-evaluation'],
  ['usage/pass/feed.ts', 'api/schema.ts', 'usage-knows-no-custom-resource'],
  ['prometheus/client.ts', 'usage/pass/feed.ts', 'prometheus-knows-no-usage'],
  ['nodes/informer.ts', 'usage/pass/feed.ts', 'nodes-know-no-usage'],
  ['api/schema.ts', 'controllers/a/act/act.ts', 'api-knows-no-behaviour'],
  ['runtime/process/clock.ts', 'runtime/client/client.ts', 'runtime-process'],
  ['runtime/client/client.ts', 'runtime/cache/informer.ts', 'runtime-client'],
  ['runtime/cache/informer.ts', 'runtime/controller/queue.ts', 'runtime-cache'],
  ['runtime/apply/apply.ts', 'runtime/cache/informer.ts', 'runtime-apply'],
  ['runtime/controller/queue.ts', 'runtime/server/http.ts', 'runtime-controller'],
  ['runtime/status/statusWriter.ts', 'runtime/server/http.ts', 'runtime-status'],
  ['runtime/controller/conditions.ts', 'runtime/client/client.ts', 'pure-decisions'],
  ['runtime/async/limit.ts', 'runtime/client/client.ts', 'runtime-async'],
  ['runtime/objectSet/plan.ts', 'runtime/process/clock.ts', 'pure-decisions'],
  ['runtime/objectSet/act.ts', 'runtime/controller/queue.ts', 'runtime-objectSet'],
  ['runtime/leaderElection/lease.ts', 'runtime/server/http.ts', 'runtime-leaderElection'],
  ['runtime/server/http.ts', 'runtime/manager/manager.ts', 'runtime-server'],
  ['runtime/process/clock.ts', 'controllers/a/act/act.ts', 'runtime-knows-no-controller'],
  ['options/values.ts', 'commands/a/command.ts', 'options-know-no-command'],
  ['commands/commands.ts', 'commands/a/command.ts', 'commands-are-loaded-lazily'],
  ['commands/a/command.ts', 'commands/b/command.ts', 'commands-know-none-of-the-others'],
  ['controllers/a/act/act.ts', 'commands/a/command.ts', 'controllers-know-no-command'],
  ['controllers/a/module.ts', 'weights/backend/dynamoDb.ts', 'aws-is-loaded-lazily'],
  ['controllers/a/act/act.ts', 'controllers/b/module.ts', 'controllers-know-none-of-the-others'],
  ['nodes/informer.ts', 'nodes/informer.test.ts', 'no-tests-in-production'],
  ['test/e2e/a.test.ts', 'test/faults/b.ts', 'levels-share-no-parts'],
  ['test/bench/a.ts', 'test/soak/b.ts', 'levels-share-no-parts'],
  ['test/soak/b.ts', 'test/e2e/c.ts', 'soak-shares-with-bench-only'],
  ['test/scenario/a.ts', 'test/e2e/c.ts', 'test-scenario'],
  ['test/harness/a.ts', 'test/faults/b.ts', 'test-harness'],
  ['test/lab/a.ts', 'test/harness/a.ts', 'test-lab'],
];

/** Allowed imports within test/. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  ['test/e2e/a.test.ts', 'test/e2e/c.ts'],
  ['test/e2e/a.test.ts', 'test/scenario/a.ts'],
  ['test/soak/b.ts', 'test/bench/d.ts'],
  ['test/scenario/a.ts', 'test/harness/e.ts'],
  ['test/harness/e.ts', 'test/lab/b.ts'],
];

interface Report {
  readonly summary: { readonly violations: readonly { from: string; to: string; rule: { name: string } }[] };
}

let tree: string;
let violations: string[];

const pathOf = (file: string): string => (file.startsWith('test/') ? file : `src/${file}`);

/** Writes a source tree with all of these imports. */
function writeTree(): void {
  const imports = new Map<string, string[]>();
  for (const [from, to] of [...FORBIDDEN, ...ALLOWED]) {
    imports.set(from, [...(imports.get(from) ?? []), to]);
    if (!to.startsWith('node:')) imports.set(to, imports.get(to) ?? []);
  }
  for (const [file, targets] of imports) {
    const path = join(tree, pathOf(file));
    mkdirSync(dirname(path), { recursive: true });
    const up = '../'.repeat(pathOf(file).split('/').length - 1);
    const lines = targets.map((to) => `import '${to.startsWith('node:') ? to : `${up}${pathOf(to)}`}';`);
    writeFileSync(path, [...lines, 'export const value = 1;', ''].join('\n'));
  }
}

beforeAll(async () => {
  tree = mkdtempSync(join(tmpdir(), 'layers-'));
  writeTree();
  for (const file of ['.dependency-cruiser.mjs', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, file), join(tree, file));
  const program = join(ROOT, 'node_modules/.bin/depcruise');
  const args = ['--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'src', 'test'];
  const { stdout } = await promisify(execFile)(program, args, { cwd: tree });
  const report = JSON.parse(stdout) as Report;
  violations = report.summary.violations.map(({ from, to, rule }) => `${from} -> ${to}: ${rule.name}`);
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

it.each(FORBIDDEN)('%s must not import %s', (from, to, rule) => {
  const target = to.startsWith('node:') ? to.slice('node:'.length) : pathOf(to);
  expect(violations).toContain(`${pathOf(from)} -> ${target}: ${rule}`);
});

it.each(ALLOWED)('%s may import %s', (from, to) => {
  expect(violations.filter((violation) => violation.startsWith(`${from} -> ${to}:`))).toEqual([]);
});

it(`no folder of src has more than ${MOST_FILES} files without its tests`, () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'));
  const counts = new Map<string, number>();
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});
