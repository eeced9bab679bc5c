import { spawnSync } from 'node:child_process';
import { programPath } from './programs.ts';

/** Warnings that say nothing about a bundle. */
const UNFOUNDED = [
  // operator-verify always prints it with --operatorhub_validate: its own option has a newer name elsewhere.
  /The \\?"operatorhub\\?" validator is deprecated/,
  // Only the operator writes objects of this kind, and consoles hide it (internal-objects).
  /Kind=PodPlacement: provided API should have an example annotation/,
  // Rights name no version of an API: v1 of both kinds is not removed.
  /removed in v1\.25\. .*Migrate the API\(s\) for ((cronjobs|endpointslices): \(\[(\\?"ClusterServiceVersion\S+\.Rules\[\d+\]\\?" ?)+\]\),)+"?$/,
];

/**
 * The errors and warnings of the validators of operator-framework/api about a bundle: its operator-verify, and
 * the validators that operator-verify does not run.
 */
export function problems(directory: string): string[] {
  return [
    ...output('operator-verify', ['manifests', '--operatorhub_validate', '--object_validate', directory]),
    ...output('operator-framework', ['validate', directory]),
  ].filter((line) => !UNFOUNDED.some((pattern) => pattern.test(line)));
}

/** The problems that opm reports about a file-based catalog. */
export function catalogProblems(directory: string): string[] {
  return output('opm', ['validate', directory]);
}

/** The lines of a program that prints nothing unless it finds something. */
function output(program: string, args: readonly string[]): string[] {
  const { stdout, stderr, error, status } = spawnSync(programPath(program), args, { encoding: 'utf8' });
  if (error) throw error;
  const lines = `${stdout}${stderr}`.split('\n').filter(Boolean);
  return status === 0 || lines.length > 0 ? lines : [`${program} ended with status ${String(status)}`];
}
