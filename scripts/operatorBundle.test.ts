import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { bundle } from './build.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);

/** The bundle of the operator, once for all tests: it takes 4 s of CPU time. */
let operator: string;
beforeAll(async () => {
  operator = mkdtempSync(join(tmpdir(), 'bundle-'));
  await bundle(join(ROOT, 'src/main.ts'), operator);
});
afterAll(() => rmSync(operator, { recursive: true }));

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
  let sbom: Sbom;

  beforeAll(() => {
    sbom = JSON.parse(readFileSync(join(operator, 'sbom.cdx.json'), 'utf8')) as Sbom;
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

/** Makes this Node.js look old: it reports an old version, and lacks a function that undici calls while it loads. */
const DISGUISE =
  `Object.defineProperty(process, 'version', { value: 'v20.20.0' });` +
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.0' } });` +
  `import('node:zlib').then(({ default: zlib }) => { delete zlib.createZstdDecompress; });`;
const DISGUISED = [process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(DISGUISE)}`]] as const;

/** The Node.js of the machine, if it is old. */
function oldNodes(): (readonly [string, readonly string[]])[] {
  const system = '/usr/bin/node';
  if (!existsSync(system)) return [DISGUISED];
  const major = Number(execFileSync(system, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }));
  return major < 24 ? [DISGUISED, [system, []]] : [DISGUISED];
}

describe.each(oldNodes())('on an old Node.js (%s)', (node, flags) => {
  it.each([
    ['the operator’s bundle', () => join(operator, 'main.js'), 'traffic-operator: '],
    ['what make runs first', () => join(ROOT, 'scripts/requireNode.mjs'), ''],
  ])('%s says what it needs, and nothing else', async (_, program, prefix) => {
    const failure: unknown = await run(node, [...flags, program(), '--version']).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(`^${prefix}needs Node\\.js 24 or newer, this is v\\d+\\.\\d+\\.\\d+\n$`),
      ) as string,
    });
  });
});

it('what make runs first lets the Node pass that the lock file pins', async () => {
  expect(await run(process.execPath, [join(ROOT, 'scripts/requireNode.mjs')])).toEqual({ stdout: '', stderr: '' });
});
