import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle, type BundleOptions } from '../../../scripts/generate/bundle/bundle.ts';
import { writeFiles } from '../../../scripts/generate/file.ts';
import { catalogProblems } from '../../../scripts/olm/validators.ts';
import { writeCatalog } from '../../../scripts/olm/writeCatalog.ts';
import { BUNDLE, csvOf, read } from './files.ts';

/** The file-based catalog that `make catalog` writes, with one bundle and with a later one. */
let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'catalog-'));
});
afterAll(() => rmSync(root, { recursive: true }));

/** Writes another bundle and returns its folder. */
function otherBundle(options: BundleOptions): string {
  const directory = join(root, options.version ?? 'other');
  writeFiles(directory, bundle(options));
  return join(directory, 'bundle');
}

function channelOf(catalog: string): object | undefined {
  return read(join(catalog, 'traffic-operator', 'catalog.yaml')).find(
    (blob) => (blob as { schema?: string }).schema === 'olm.channel',
  );
}

it('is valid with the bundle of the repository, whose objects are in it', () => {
  const catalog = join(root, 'one');
  writeCatalog(catalog, [BUNDLE]);
  expect(catalogProblems(catalog)).toEqual([]);
  const { spec } = csvOf(BUNDLE);
  const edge = { name: `traffic-operator.v${spec.version}`, skipRange: `<${spec.version}` };
  expect(channelOf(catalog)).toMatchObject({ name: 'stable', package: 'traffic-operator', entries: [edge] });
  const blobs = read(join(catalog, 'traffic-operator', 'catalog.yaml')) as never as {
    schema: string;
    image: string;
    properties: { type: string }[];
  }[];
  const { image, properties } = blobs.find(({ schema }) => schema === 'olm.bundle')!;
  // With an image OLM would pull it and ignore the objects.
  expect(image).toBe('');
  expect(properties.filter(({ type }) => type === 'olm.bundle.object')).toHaveLength(10);
});

it('has an edge from each bundle to the next one', () => {
  const { version } = csvOf(BUNDLE).spec;
  const next = otherBundle({ version: '9.0.0', previous: version });
  const catalog = join(root, 'two');
  writeCatalog(catalog, [BUNDLE, next]);
  expect(catalogProblems(catalog)).toEqual([]);
  expect(channelOf(catalog)).toMatchObject({
    entries: [
      { name: `traffic-operator.v${version}` },
      { name: 'traffic-operator.v9.0.0', replaces: `traffic-operator.v${version}`, skipRange: '<9.0.0' },
    ],
  });
});

it('is refused with two heads of the channel', () => {
  const catalog = join(root, 'heads');
  writeCatalog(catalog, [BUNDLE, otherBundle({ version: '9.0.1', previous: '' })]);
  expect(catalogProblems(catalog).join('\n')).toMatch(/multiple channel heads/);
});

it('has the rights of another namespace', () => {
  const { spec, metadata } = csvOf(otherBundle({ namespace: 'network', version: '9.0.2', previous: '' }));
  const rights = JSON.stringify(spec.install.spec.clusterPermissions);
  expect(rights).toContain('"network-node-exporter"');
  expect(JSON.stringify([spec, metadata])).not.toContain('traffic-operator-system');
  expect(metadata.annotations['operatorframework.io/suggested-namespace']).toBe('network');
});

it('gives another image to the Deployment and to the list of images', () => {
  const image = 'registry.example.com/traffic-operator:0.1.0';
  const { spec, metadata } = csvOf(otherBundle({ image }));
  expect(spec.install.spec.deployments[0]!.spec!.template.spec!.containers[0]!.image).toBe(image);
  expect(spec.relatedImages.map((one) => one.image)).toContain(image);
  expect(metadata.annotations.containerImage).toBe(image);
});
