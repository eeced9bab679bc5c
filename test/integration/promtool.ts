import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { binary } from '../lab/binaries.ts';

/** The folder of the rules, from which paths given to promtool are looked for. */
export const PROMETHEUS = fileURLToPath(new URL('../../prometheus/', import.meta.url));

/** Resolves to what promtool says; rejects with that when it is not content. */
export async function promtool(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(await binary('promtool'), args, { cwd: PROMETHEUS });
  return stdout;
}
