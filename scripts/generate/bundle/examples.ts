import { existsSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../chart/helm.ts';
import type { GeneratedCrd } from '../crds.ts';

const SAMPLES = new URL('../../../deploy/samples/', import.meta.url);

/**
 * The sample of each kind that users create, which consoles offer as the start of a new object: the first of the kind in the file with its
 * name, such as trafficwatch.yaml.
 * @throws if one of them has no sample
 */
export function examples(crds: readonly GeneratedCrd[]): Manifest[] {
  const offered = crds.filter(({ kind }) => kind.isInternal !== true);
  return offered.map(({ kind: { resource, singular } }) => {
    const all = documents(`${singular}.yaml`);
    const sample = all.find(
      ({ apiVersion, kind }) => kind === resource.kind && apiVersion === `${resource.group}/${resource.version}`,
    );
    if (sample === undefined) throw new Error(`deploy/samples/${singular}.yaml has no ${resource.kind}`);
    return inNamespaceThatExists(sample, all);
  });
}

/** A console creates the sample alone: what it has in a namespace that its file creates is in `default`. */
function inNamespaceThatExists(sample: Manifest, all: readonly Manifest[]): Manifest {
  const created = new Set(all.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name));
  const replace = (key: string, value: unknown): unknown =>
    key === 'namespace' && created.has(String(value)) ? 'default' : value;
  return JSON.parse(JSON.stringify(sample, replace)) as Manifest;
}

function documents(file: string): Manifest[] {
  const url = new URL(file, SAMPLES);
  if (!existsSync(url)) return [];
  const text = readFileSync(url, 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}
