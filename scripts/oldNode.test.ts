import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './build.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);

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
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'old-node-'));
    await bundle(join(ROOT, 'src/main.ts'), directory);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each([
    ['the operator’s bundle', () => join(directory, 'main.js'), 'traffic-operator: '],
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
