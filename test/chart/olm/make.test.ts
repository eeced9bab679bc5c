import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BUNDLE, csvOf, manifestsOf, read } from './files.ts';

/** The scripts of `make bundle` and `make catalog`, called as the Makefile calls them, in a working directory of their own. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const IMAGE = 'registry.example.com/traffic-operator:0.1.0';
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'make-'));
  for (const name of ['scripts', 'bundle']) symlinkSync(join(ROOT, name), join(directory, name));
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Run {
  readonly status: number | null;
  readonly said: string;
}

/** Runs the lines of a target that call a script of scripts/olm, until one fails. */
function make(...args: readonly string[]): Run[] {
  const env = { ...process.env, IMG: undefined, NAMESPACE: undefined, WITHOUT: undefined, BUNDLES: undefined };
  const printed = spawnSync('make', ['--no-print-directory', '-C', ROOT, '-n', ...args], { env, encoding: 'utf8' });
  const lines = printed.stdout.split('\n').filter((line) => line.startsWith('node scripts/olm/'));
  const runs: Run[] = [];
  for (const line of lines) {
    if (runs.some(({ status }) => status !== 0)) break;
    const [, ...words] = line.trim().split(/ +/);
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: directory, env, encoding: 'utf8' });
    runs.push({ status, said: `${stdout}${stderr}`.trim() });
  }
  return runs;
}

const catalog = () =>
  read(join(directory, 'dist/catalog/traffic-operator/catalog.yaml')) as never as {
    schema: string;
    name: string;
    relatedImages?: { image: string }[];
  }[];

it('make catalog writes the catalog of bundle/, and a Dockerfile that serves it', () => {
  expect(make('catalog')).toEqual([
    { status: 0, said: `${BUNDLE} is valid` },
    { status: 0, said: 'dist/catalog is valid' },
  ]);
  const { metadata } = csvOf(BUNDLE);
  expect(catalog().map(({ schema, name }) => [schema, name])).toEqual([
    ['olm.package', 'traffic-operator'],
    ['olm.channel', 'stable'],
    ['olm.bundle', metadata.name],
  ]);
  // What is served is next to the Dockerfile, and begins with the program that serves it.
  const dockerfile = readFileSync(join(directory, 'dist/catalog.Dockerfile'), 'utf8');
  expect(dockerfile).toMatch(/^FROM quay\.io\/operator-framework\/opm:v[\d.]+$/m);
  expect(dockerfile).toMatch(/^ADD catalog \/configs$/m);
  expect(dockerfile).toMatch(/^CMD \["serve", "\/configs", /m);
  expect(dockerfile).toMatch(/^LABEL operators\.operatorframework\.io\.index\.configs\.v1=\/configs$/m);
});

it('make catalog with another image and namespace, without features, has the bundle that it writes so', () => {
  const args = [`IMG=${IMAGE}`, 'NAMESPACE=network', 'WITHOUT=weights'];
  expect(make('catalog', ...args)).toEqual([
    { status: 0, said: 'dist/bundle is valid' },
    { status: 0, said: 'dist/catalog is valid' },
  ]);
  const bundle = join(directory, 'dist/bundle');
  const { metadata, spec } = csvOf(bundle);
  expect(spec.install.spec.deployments[0]!.spec!.template.spec!.containers[0]!.image).toBe(IMAGE);
  expect(metadata.annotations['operatorframework.io/suggested-namespace']).toBe('network');
  const kinds = manifestsOf(bundle).filter(({ kind }) => kind === 'CustomResourceDefinition');
  expect(kinds.map((crd) => crd.metadata.name.split('.')[0]).sort()).toEqual([
    'connectivitychecks',
    'podplacements',
    'trafficstacks',
    'trafficwatches',
  ]);
  expect(
    catalog()
      .at(-1)
      ?.relatedImages?.map(({ image }) => image),
  ).toContain(IMAGE);
});

it('make bundle says which feature is unknown, and writes nothing', () => {
  const [run, ...others] = make('catalog', 'WITHOUT=weight');
  expect(others).toEqual([]);
  expect(run).toMatchObject({
    status: 1,
    said: expect.stringContaining('weight is not one of weights') as string,
  });
  expect(() => csvOf(join(directory, 'dist/bundle'))).toThrow('ENOENT');
});

it('make catalog reads the bundles that are named, and ends with an error if one cannot be read', () => {
  const said = expect.stringContaining('missing') as string;
  expect(make('catalog', 'BUNDLES=bundle missing')[1]).toMatchObject({ status: 1, said });
});
