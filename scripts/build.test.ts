import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './build.ts';

const NODE_MODULES = new URL('../node_modules/', import.meta.url).pathname;
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

  it('has the same bill of materials for the same inputs, with neither a time nor a serial number', async () => {
    const textOf = (dist: string): string => readFileSync(join(directory, dist, 'sbom.cdx.json'), 'utf8');
    await bundle(join(directory, 'entry.ts'), join(directory, 'again'));
    const text = textOf('dist');
    expect(text).toContain('pkg:npm/zod@');
    expect(textOf('again')).toBe(text);
    expect(text).not.toMatch(/serialNumber|timestamp|\d{4}-\d\d-\d\dT/);
  });
});
