import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseDocument, type Document } from 'yaml';
import { binDir } from '../../test/lab/binaries.ts';

const CHART = fileURLToPath(new URL('../../charts/traffic-operator', import.meta.url));
const BUILD = fileURLToPath(new URL('../../test/lab/build.sh', import.meta.url));

/** A Kubernetes object in a manifest. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

/** The pinned helm, built if it is missing; the variable HELM names another helm. */
export function helmPath(): string {
  const { HELM } = process.env;
  if (HELM !== undefined) return HELM;
  const path = `${binDir()}/helm`;
  // Its progress goes to stderr, so that it does not mix with the output of this program.
  if (!existsSync(path)) execFileSync(BUILD, ['helm'], { stdio: ['ignore', 2, 2] });
  return path;
}

/**
 * Runs helm with the project's chart as the last argument.
 * @throws with the error message of helm
 */
export function helm(...args: readonly string[]): string {
  return execFileSync(helmPath(), [...args, CHART], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 26 });
}

/** The objects that `helm install traffic-operator` creates, including hooks. */
export function helmTemplate(...args: readonly string[]): Manifest[] {
  const text = helm('template', 'traffic-operator', '--namespace', 'traffic-operator-system', ...args);
  return manifestsIn(text);
}

/** By their texts. Most of what helm prints are CRDs and dashboards, which are the same at each call, and take half a second to parse. */
const parsed = new Map<string, Document>();

/** The objects in what helm prints: documents of YAML, of which some may be empty. */
export function manifestsIn(text: string): Manifest[] {
  return text.split(/^---$/m).flatMap((one) => {
    const document = parsed.get(one) ?? parseDocument(one);
    parsed.set(one, document);
    return (document.toJS() as Manifest | null) ?? [];
  });
}

/** True for an object that helm creates only during an uninstallation. */
export function isHook(object: Manifest): boolean {
  return object.metadata.annotations?.['helm.sh/hook'] !== undefined;
}
