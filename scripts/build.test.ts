import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { bundle } from './build.ts';

const NODE_MODULES = new URL('../node_modules/', import.meta.url).pathname;
const OPERATOR = new URL('../src/main.ts', import.meta.url).pathname;
const DASHBOARD = new URL('../charts/traffic-operator/dashboards/nodes.json', import.meta.url).pathname;

/** One ES module package, one CommonJS package that requires modules of Node.js, and a named function. */
const ENTRY = `
import { z } from '${NODE_MODULES}zod/index.js';
import pino from '${NODE_MODULES}pino/pino.js';
import nodes from '${DASHBOARD}' with { type: 'json' };
function aNameToBeFound() { throw new Error('on purpose'); }
pino({ timestamp: false, base: undefined }).info({ parsed: z.string().parse('x') }, 'ran');
if (process.argv[2] === 'fail') aNameToBeFound();
if (process.argv[2] === 'dashboard') console.log(JSON.stringify(nodes));
`;

/** The bundle of the operator, which takes seconds of CPU time. */
let operator: string;
beforeAll(async () => {
  operator = mkdtempSync(join(tmpdir(), 'bundle-'));
  await bundle(OPERATOR, operator);
});
afterAll(() => rmSync(operator, { recursive: true }));

describe('the bundle', () => {
  let directory: string;
  const main = (): string => join(directory, 'dist/main.js');

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'bundle-'));
    writeFileSync(join(directory, 'entry.ts'), ENTRY);
    await bundle(join(directory, 'entry.ts'), join(directory, 'dist'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('runs where there is no node_modules', () => {
    const output = execFileSync(process.execPath, [main()], { cwd: directory, encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({ level: 30, parsed: 'x', msg: 'ran' });
  });

  it('keeps the names of functions in stack traces', () => {
    const run = () => execFileSync(process.execPath, [main(), 'fail'], { stdio: 'pipe', encoding: 'utf8' });
    expect(run).toThrow(/on purpose\n +at aNameToBeFound/);
  });

  it('has the dashboards compressed', () => {
    const lines = execFileSync(process.execPath, [main(), 'dashboard'], { encoding: 'utf8' }).split('\n');
    // The logger may write its line later.
    const output = lines.find((line) => !line.includes('"msg"')) ?? '';
    expect(JSON.parse(output)).toEqual(JSON.parse(readFileSync(DASHBOARD, 'utf8')));
    expect(readFileSync(main(), 'utf8')).not.toContain('panels');
  });

  it('carries the licence of each package in it, once, and of no other', () => {
    const licenses = readFileSync(join(directory, 'dist/THIRD_PARTY_LICENSES'), 'utf8');
    expect(licenses.match(/^zod \d.* \(MIT\)$/gm)).toHaveLength(1);
    expect(licenses.match(/^pino \d.* \(MIT\)$/gm)).toHaveLength(1);
    expect(licenses).toContain('Colin McDonnell');
    expect(licenses).not.toMatch(/^rxjs /m);
  });
});

describe('the operator’s bundle', () => {
  it('loads neither undici nor HTTP/2 nor node:fs/promises for a connectivity agent, of which each node has two', () => {
    const atExit = `process.on('exit', () => process.stdout.write(process.moduleLoadList.join('\\n')));`;
    const preload = `data:text/javascript,${encodeURIComponent(atExit)}`;
    const args = ['--import', preload, join(operator, 'main.js'), 'connectivity-agent', '--help'];
    const loaded = execFileSync(process.execPath, args, { encoding: 'utf8' });
    expect(loaded).toMatch(/^NativeModule http$/m);
    expect(loaded.match(/^NativeModule .*(?:undici|http2|fs\/promises).*$/gm) ?? []).toEqual([]);
  });

  it('is ASCII: one other character in it, and V8 keeps two bytes for each of its 3.5 million', () => {
    const files = globSync('**/*.js', { cwd: operator });
    const text = files.map((file) => readFileSync(join(operator, file), 'utf8')).join('');
    expect(text.length).toBeGreaterThan(1_000_000);
    expect(text.match(/[^\x00-\x7f]+/g) ?? []).toEqual([]);
  });

  it('has every package that package.json lists for run time in it, and none of those for development', () => {
    const licenses = readFileSync(join(operator, 'THIRD_PARTY_LICENSES'), 'utf8');
    const bundled = (name: string): boolean => licenses.includes(`\n${name} `);
    expect(Object.keys(manifest.dependencies).filter((name) => !bundled(name))).toEqual([]);
    expect(Object.keys(manifest.devDependencies).filter(bundled)).toEqual([]);
  });
});

describe('the bill of materials', () => {
  interface Component {
    'bom-ref': string;
    name: string;
    version: string;
    type: string;
    [field: string]: unknown;
  }
  interface Sbom {
    components: Component[];
    dependencies: { ref: string; dependsOn: string[] }[];
    [field: string]: unknown;
  }
  const textOf = (directory: string): string => readFileSync(join(directory, 'sbom.cdx.json'), 'utf8');
  let text: string;
  let sbom: Sbom;

  beforeAll(() => {
    text = textOf(operator);
    sbom = JSON.parse(text) as Sbom;
  });

  it('is the same for the same inputs, with neither a time nor a serial number', async () => {
    const again = mkdtempSync(join(tmpdir(), 'bundle-'));
    await bundle(OPERATOR, again);
    expect(textOf(again)).toBe(text);
    rmSync(again, { recursive: true });
    expect(text).not.toMatch(/serialNumber|timestamp|\d{4}-\d\d-\d\dT/);
  });

  it('has each package that is bundled, and Node', () => {
    const licenses = readFileSync(join(operator, 'THIRD_PARTY_LICENSES'), 'utf8');
    // Packages with one text are listed before it, a line each.
    const titles = licenses
      .split(/-{80}\n\n/)
      .slice(1)
      .map((section) => section.split('\n\n', 1)[0] ?? '');
    const bundled = titles
      .flatMap((lines) => lines.split('\n'))
      .map((line) => line.replace(/^(\S+) (\S+) \(.*$/, '$1@$2'));
    expect(bundled.length).toBeGreaterThan(Object.keys(manifest.dependencies).length);
    const node = `node@${process.versions.node}`;
    expect(sbom.components.map((each) => each['bom-ref']).sort()).toEqual([...bundled, node].sort());
    expect(sbom.components.at(-1)).toMatchObject({ type: 'platform', purl: `pkg:generic/${node}` });
  });

  it('says of each package what npm says of it', () => {
    // Uses the whole lock file: `npm sbom --omit=dev` also omits packages that development and run time share.
    const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
    const npm = JSON.parse(
      execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    ) as Sbom;
    const told = new Map(npm.components.map((each) => [each['bom-ref'], each]));
    const libraries = sbom.components.filter(({ type }) => type === 'library');
    for (const one of libraries) expect(told.get(one['bom-ref'])).toMatchObject(one);
    const edges = new Map(npm.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const refs = new Set(libraries.map((each) => each['bom-ref']));
    for (const { ref, dependsOn } of sbom.dependencies.slice(1)) {
      expect([ref, dependsOn]).toEqual([
        ref,
        edges
          .get(ref)!
          .filter((each) => refs.has(each))
          .sort(),
      ]);
    }
    const direct = Object.keys(manifest.dependencies).map((name) => expect.stringMatching(`^${name}@`) as string);
    expect(sbom.dependencies[0]!.dependsOn).toEqual(expect.arrayContaining(direct));
  });
});
