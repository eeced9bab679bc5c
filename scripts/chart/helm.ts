import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { binDir } from '../../test/lab/binaries.ts';

const CHART = fileURLToPath(new URL('../../charts/traffic-operator', import.meta.url));
const BUILD = fileURLToPath(new URL('../../test/lab/build.sh', import.meta.url));

/** A Kubernetes object as a manifest has it. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

/** The helm that the project pins, built first when it is not there; the variable HELM names another one. */
export function helmPath(): string {
  const { HELM } = process.env;
  if (HELM !== undefined) return HELM;
  const path = `${binDir()}/helm`;
  // Its progress is for people: what this program prints is not to be mixed with it.
  if (!existsSync(path)) execFileSync(BUILD, ['helm'], { stdio: ['ignore', 2, 2] });
  return path;
}

/**
 * Runs helm with the project's chart as the last argument.
 * Throws with what helm said when it fails.
 */
export function helm(...args: readonly string[]): string {
  return execFileSync(helmPath(), [...args, CHART], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 26 });
}

/** The objects that `helm install traffic-operator` would make, hooks among them. */
export function helmTemplate(...args: readonly string[]): Manifest[] {
  const text = helm('template', 'traffic-operator', '--namespace', 'traffic-operator-system', ...args);
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

/** True for an object that helm makes for the time of an uninstallation only. */
export function isHook(object: Manifest): boolean {
  return object.metadata.annotations?.['helm.sh/hook'] !== undefined;
}
