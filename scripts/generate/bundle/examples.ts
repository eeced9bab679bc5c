import { readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../chart/helm.ts';
import type { GeneratedCrd } from '../crds.ts';

const SAMPLES = new URL('../../../deploy/samples/', import.meta.url);

/**
 * The first sample of each kind, which consoles offer as the start of a new object.
 * @throws if a kind has no sample
 */
export function examples(crds: readonly GeneratedCrd[]): Manifest[] {
  const samples = readdirSync(SAMPLES).sort().flatMap(documents);
  return crds.map(({ kind: { resource } }) => {
    const sample = samples.find(
      ({ apiVersion, kind }) => kind === resource.kind && apiVersion === `${resource.group}/${resource.version}`,
    );
    if (sample === undefined) throw new Error(`deploy/samples has no ${resource.kind}`);
    return sample;
  });
}

function documents(file: string): Manifest[] {
  const text = readFileSync(new URL(file, SAMPLES), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}
