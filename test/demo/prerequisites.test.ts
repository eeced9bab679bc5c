import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** The programs that the script itself needs. All others count as not installed. */
const SHELL = ['bash', 'dirname', 'uname', 'cut', 'sort', 'xargs', 'echo'];
const NOBODY = 65_534;

let directory: string;
let empty: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'prerequisites-'));
  chmodSync(directory, 0o755);
  // Another user may not be able to read the checkout.
  cpSync(fileURLToPath(new URL('../lab/', import.meta.url)), join(directory, 'lab'), { recursive: true });
  empty = join(directory, 'bin');
  mkdirSync(empty);
  for (const program of SHELL) symlinkSync(pathOf(program), join(empty, program));
});
afterAll(() => rmSync(directory, { recursive: true }));

function pathOf(program: string): string {
  const paths = (process.env.PATH ?? '').split(':').map((folder) => join(folder, program));
  const found = paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`${program} is not on PATH`);
  return found;
}

/** Runs the check as a user who cannot install packages. */
function check(path: string): { status: number | null; said: string } {
  const isRoot = process.getuid?.() === 0;
  const { status, stderr } = spawnSync(pathOf('bash'), [join(directory, 'lab/prerequisites.sh')], {
    env: { PATH: path, TRAFFIC_LAB_CACHE: join(directory, 'cache') },
    encoding: 'utf8',
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
  });
  return { status, said: stderr };
}

describe('the check of the demo and the lab before they build anything', () => {
  it('lists each missing program with its purpose, and the command that installs them', () => {
    const { status, said } = check(empty);
    expect(status).toBe(1);
    expect(said).toContain('The lab needs these programs, which are not on this machine:\n');
    expect(said).toMatch(/^ {2}iperf3 +the image that makes traffic \(Debian package iperf3\)$/m);
    expect(said).toMatch(/^ {2}busybox +the image with a shell \(Debian package busybox-static\)$/m);
    expect(said).toMatch(
      /^On Debian or Ubuntu: sudo apt-get install --no-install-recommends .*\bbuildah busybox-static\b/m,
    );
    expect(said).toContain('it needs Go 1.21 or newer, from https://go.dev/dl');
  });

  it('says that it needs root, whether programs are missing or not', () => {
    for (const path of [empty, process.env.PATH ?? '']) {
      const { status, said } = check(path);
      expect(status).toBe(1);
      expect(said).toContain('the lab needs root: it makes network namespaces, mounts and cgroups.');
    }
  });

  it('says only that it needs Linux on another system', () => {
    const darwin = join(directory, 'darwin');
    mkdirSync(darwin);
    writeFileSync(join(darwin, 'uname'), `#!${pathOf('bash')}\necho Darwin\n`, { mode: 0o755 });
    expect(check(`${darwin}:${empty}`)).toEqual({
      status: 1,
      said: 'lab: the lab needs Linux: network namespaces and cgroups\n',
    });
  });
});
