import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { bundle } from './build.ts';

const NODE_MODULES = new URL('../node_modules/', import.meta.url).pathname;
/** One ES module package, one CommonJS package that requires Node's own modules, and a function with a name. */
const ENTRY = `
import { z } from '${NODE_MODULES}zod/index.js';
import pino from '${NODE_MODULES}pino/pino.js';
function aNameToBeFound() { throw new Error('on purpose'); }
pino({ timestamp: false, base: undefined }).info({ parsed: z.string().parse('x') }, 'ran');
if (process.argv[2] === 'fail') aNameToBeFound();
`;

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

  it('carries the licence of each package in it, once, and of no other', () => {
    const licenses = readFileSync(join(directory, 'dist/THIRD_PARTY_LICENSES'), 'utf8');
    expect(licenses.match(/^zod \d.* \(MIT\)$/gm)).toHaveLength(1);
    expect(licenses.match(/^pino \d.* \(MIT\)$/gm)).toHaveLength(1);
    expect(licenses).toContain('Colin McDonnell');
    expect(licenses).not.toMatch(/^rxjs /m);
  });
});

describe('the operator’s bundle', () => {
  it('has every package that package.json lists for run time in it, and none of those for development', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
    await bundle(new URL('../src/main.ts', import.meta.url).pathname, directory);
    const licenses = readFileSync(join(directory, 'THIRD_PARTY_LICENSES'), 'utf8');
    rmSync(directory, { recursive: true });
    const bundled = (name: string): boolean => licenses.includes(`\n${name} `);
    expect(Object.keys(manifest.dependencies).filter((name) => !bundled(name))).toEqual([]);
    expect(Object.keys(manifest.devDependencies).filter(bundled)).toEqual([]);
  });
});
