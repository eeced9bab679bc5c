import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { binary } from '../lab/binaries.ts';
import type { ControlPlane } from './controlPlane.ts';
import { field, kubeconfigOf, kubectl } from './kubectl.ts';
import { operatorMain } from './operatorMain.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLEANUP = 'traffic-operator-cleanup';
const WAIT = { timeout: 120_000, interval: 300 };
const run = promisify(execFile);

/**
 * Runs scripts/cluster.sh with a control plane and returns its standard output.
 * @throws with its messages if it fails
 */
export async function runClusterScript(
  { kubeconfig }: ControlPlane,
  command: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...process.env, KUBECTL: await binary('kubectl'), KUBECONFIG: kubeconfig, ...variables };
  return (await run(`${ROOT}scripts/cluster.sh`, [command], { env })).stdout;
}

/** Waits for the Job of the clean-up, carries it out with its arguments and rights, and reports it as complete. */
export async function carryOutCleanup(plane: ControlPlane): Promise<void> {
  const job = ['-n', CLEANUP, `job/${CLEANUP}`];
  await vi.waitFor(async () => expect(await field(plane, job, '.metadata.name')).toBe(CLEANUP), WAIT);
  const args = JSON.parse(await field(plane, job, '.spec.template.spec.containers[0].args')) as string[];
  const kubeconfig = await kubeconfigOf(plane, CLEANUP, CLEANUP);
  await run(process.execPath, [operatorMain(), ...args, `--kubeconfig=${kubeconfig}`], { timeout: 180_000 });
  const at = new Date().toISOString();
  const condition = (type: string): object => ({ type, status: 'True', lastTransitionTime: at });
  const conditions = [condition('SuccessCriteriaMet'), condition('Complete')];
  const status = { startTime: at, completionTime: at, succeeded: 1, conditions };
  await kubectl(plane, ['patch', ...job, '--subresource=status', '--type=merge', `-p${JSON.stringify({ status })}`]);
}
