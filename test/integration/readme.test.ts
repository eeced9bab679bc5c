import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { resourcePath } from '../../src/runtime/client/resource.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { installCrd, trafficWatchCrd } from '../harness/customResource.ts';

/** Tests that the API server takes every TrafficWatch in the documents, since people copy them. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCUMENTS = globSync(['*.md', 'docs/*.md', 'charts/*/README.md'], { cwd: ROOT }).sort();

const scene = useConnectedPlane(({ client }) => installCrd(client));

interface Block {
  readonly document: string;
  readonly object: TrafficWatch;
}

/** The objects of a block. @throws YAMLParseError */
function documentsIn(yaml: string): TrafficWatch[] {
  return parseAllDocuments(yaml).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as TrafficWatch;
  });
}

function examplesIn(text: string): TrafficWatch[] {
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```/gms)].flatMap(([, yaml = '']) => documentsIn(yaml));
  return blocks.filter(({ kind }) => kind === TRAFFIC_WATCHES.kind);
}

function blocksOf(document: string): Block[] {
  return examplesIn(readFileSync(join(ROOT, document), 'utf8')).map((object) => ({ document, object }));
}

const BLOCKS = DOCUMENTS.flatMap(blocksOf);

/** As `kubectl apply --dry-run=server` sends it: unknown and misspelt fields are refused. */
function dryRun(object: unknown): Promise<TrafficWatch> {
  return scene.connected.transport.request<TrafficWatch>({
    method: 'POST',
    path: resourcePath(TRAFFIC_WATCHES, { namespace: 'default' }),
    query: { dryRun: 'All', fieldValidation: 'Strict' },
    body: object,
  });
}

/** The fields of the spec in the CRD. */
function specFields(): string[] {
  const [version] = trafficWatchCrd().spec.versions;
  return Object.keys(version?.schema?.openAPIV3Schema?.properties?.spec?.properties ?? {});
}

describe('docs/trafficwatch.md', () => {
  it.each(specFields())('has an example of %s in the section of its name', (field) => {
    const page = readFileSync(join(ROOT, 'docs/trafficwatch.md'), 'utf8');
    const sections = page.split(/^## /m).filter((text) => text.split('\n', 1)[0]?.split(' and ').includes(field));
    expect(sections.flatMap(examplesIn).some(({ spec }) => Object.hasOwn(spec, field))).toBe(true);
  });
});

describe('a TrafficWatch in the documents', () => {
  it('is in the README at least', () => expect(BLOCKS.map(({ document }) => document)).toContain('README.md'));

  it.each(BLOCKS)('of $document is taken by the API server as it is', async ({ object }) => {
    expect((await dryRun(object)).spec).toMatchObject(object.spec);
  });

  it('would be refused with a field that is misspelt', async () => {
    const [{ object }] = BLOCKS as [Block];
    const misspelt = { ...object, spec: { ...object.spec, maxBandwidthPercents: '20' } };
    await expect(dryRun(misspelt)).rejects.toMatchObject({ status: 400 });
  });
});
