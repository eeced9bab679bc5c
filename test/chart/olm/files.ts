import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { V1DeploymentSpec } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../../scripts/chart/helm.ts';
import type { Descriptor } from '../../../scripts/generate/bundle/descriptors.ts';

export const BUNDLE = fileURLToPath(new URL('../../../bundle', import.meta.url));
export const DEPLOY = fileURLToPath(new URL('../../../deploy', import.meta.url));
const CSV_FILE = join('manifests', 'traffic-operator.clusterserviceversion.yaml');

/** The parts of the ClusterServiceVersion that tests read. */
export interface Csv {
  metadata: { name: string; annotations: Record<string, string> };
  spec: {
    version: string;
    description: string;
    replaces?: string;
    relatedImages: { name: string; image: string }[];
    installModes: { type: string; supported: boolean }[];
    customresourcedefinitions: {
      owned: {
        name: string;
        kind: string;
        version: string;
        specDescriptors: Descriptor[];
        statusDescriptors: Descriptor[];
      }[];
    };
    install: {
      spec: {
        clusterPermissions: object[];
        permissions: object[];
        deployments: { name: string; spec?: V1DeploymentSpec }[];
      };
    };
  };
}

/** The objects of a file of YAML documents. */
export function read(path: string): Manifest[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document): Manifest => document.toJS() as Manifest);
}

/** The objects of a bundle. */
export function manifestsOf(bundle: string): Manifest[] {
  const directory = join(bundle, 'manifests');
  return readdirSync(directory).flatMap((file) => read(join(directory, file)));
}

/** The ClusterServiceVersion of a bundle. */
export function csvOf(bundle: string): Csv {
  return read(join(bundle, CSV_FILE))[0] as never;
}

/** Calls `use` with a copy of the bundle whose ClusterServiceVersion was changed. */
export function withChangedCsv(change: (csv: Csv) => void, use: (bundle: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
  try {
    cpSync(BUNDLE, directory, { recursive: true });
    const csv = csvOf(BUNDLE);
    change(csv);
    // JSON is YAML.
    writeFileSync(join(directory, CSV_FILE), JSON.stringify(csv));
    use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
