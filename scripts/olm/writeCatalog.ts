import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { programPath } from './programs.ts';

const PACKAGE = 'traffic-operator';

/** A bundle as opm renders it (schema olm.bundle). */
interface RenderedBundle {
  schema: string;
  name: string;
  package: string;
  properties: { type: string; value: { data?: string } }[];
}

/** The parts of a ClusterServiceVersion that a catalog repeats. */
interface Csv {
  kind: string;
  metadata: { annotations: Record<string, string> };
  spec: { replaces?: string; description: string; icon: { base64data: string; mediatype: string }[] };
}

/**
 * Writes catalog.yaml, with the package, its channel and the bundles (https://olm.operatorframework.io/docs/reference/file-based-catalogs/).
 * The channel has the upgrade edges of the bundles.
 *
 * @param bundles folders or references of images, the newest last
 * @throws with the message of opm if it can not read a bundle
 */
export function writeCatalog(directory: string, bundles: readonly string[], channel = 'stable'): void {
  const rendered = bundles.flatMap(render);
  const newest = csvOf(rendered.at(-1)!);
  const [icon] = newest.spec.icon;
  const blobs = [
    {
      schema: 'olm.package',
      name: PACKAGE,
      defaultChannel: channel,
      description: newest.metadata.annotations.description,
      icon: { base64data: icon!.base64data, mediatype: icon!.mediatype },
    },
    { schema: 'olm.channel', package: PACKAGE, name: channel, entries: rendered.map(entry) },
    ...rendered,
  ];
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, PACKAGE), { recursive: true });
  const text = blobs.map((blob) => stringify(blob, { version: '1.1', lineWidth: 0 })).join('---\n');
  writeFileSync(join(directory, PACKAGE, 'catalog.yaml'), text);
}

function render(bundle: string): RenderedBundle[] {
  const text = execFileSync(programPath('opm'), ['render', bundle, '-o', 'yaml'], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const blobs = parseAllDocuments(text).map((document) => document.toJS() as RenderedBundle | null);
  return blobs.filter((blob) => blob?.schema === 'olm.bundle') as RenderedBundle[];
}

function entry(bundle: RenderedBundle): object {
  const { metadata, spec } = csvOf(bundle);
  return {
    name: bundle.name,
    ...(spec.replaces !== undefined && { replaces: spec.replaces }),
    skipRange: metadata.annotations['olm.skipRange'],
  };
}

function csvOf({ name, properties }: RenderedBundle): Csv {
  const objects = properties
    .filter(({ type }) => type === 'olm.bundle.object')
    .map(({ value }) => JSON.parse(Buffer.from(value.data ?? '', 'base64').toString()) as Csv);
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion');
  if (csv === undefined) throw new Error(`the bundle ${name} has no ClusterServiceVersion`);
  return csv;
}
