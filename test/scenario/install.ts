import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadImage } from '../lab/lab.ts';
import { inCluster, kubectl } from './kubectl.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

export const NAMESPACE = 'traffic-operator-system';
export const RELEASE = 'traffic-operator';
const CHART = `${ROOT}charts/traffic-operator`;

/** Builds the operator's image from the project's own Dockerfile and puts it on every node. */
export async function provideImage(): Promise<void> {
  const { stdout } = await run(`${ROOT}test/image/build.sh`, { maxBuffer: 64 * 1024 * 1024 });
  await loadImage(stdout.trim().split('\n').at(-1) ?? '');
}

/** `helm install` as in the README. Waits until the operator's pods are ready. */
export async function helmInstall(sets: Record<string, string> = {}): Promise<string> {
  const flags = Object.entries(sets).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const where = ['--namespace', NAMESPACE, '--create-namespace', '--wait', '--timeout', '8m'];
  return inCluster('helm', ['install', RELEASE, CHART, ...where, ...flags]);
}

/** `helm upgrade` with these values in addition to the defaults. Waits as `helmInstall` does. */
export async function helmUpgrade(values: object): Promise<void> {
  const where = ['--namespace', NAMESPACE, '--reset-values', '--wait', '--timeout', '8m'];
  await inCluster('helm', ['upgrade', RELEASE, CHART, ...where, '--values', '-'], JSON.stringify(values));
}

/** `helm rollback` to the revision before. */
export async function helmRollback(): Promise<void> {
  await inCluster('helm', ['rollback', RELEASE, '--namespace', NAMESPACE, '--wait', '--timeout', '8m']);
}

/** `helm uninstall` as in the README. */
export async function helmUninstall(): Promise<void> {
  await inCluster('helm', ['uninstall', RELEASE, '--namespace', NAMESPACE, '--wait', '--timeout', '8m']);
}

/** The last lines of the logs of the operator's pods, -1: all, for the report of a failed test. For a pod on a dead node: why its log cannot be read. */
export function operatorLogs({ lines = 50 } = {}): Promise<string> {
  const pods = ['-n', NAMESPACE, '-l', 'app.kubernetes.io/name=traffic-operator'];
  return kubectl('logs', ...pods, `--tail=${lines}`, '--prefix', '--ignore-errors');
}
