import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** Tests how test/lab/build.sh builds and caches the programs of the lab, with a fake `go`. */
const LAB = new URL('../test/lab/', import.meta.url).pathname;
// A call starts hundreds of short programs, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });
const WAIT = { timeout: 100_000, interval: 50 };

/**
 * A fake `go`: lists packages as `go build -v` does, waits while the file `hold` exists, and writes the file named by
 * -o. It fails if the file `broken` exists. Each build adds a line to the file `builds`.
 */
const GO = `#!/bin/bash
[[ $1 == build ]] || exit 0
echo "$*" >>"$FAKE/builds"
printf 'runtime\\nnet/http\\ngithub.com/a/b\\n'
while [[ -e $FAKE/hold ]]; do /bin/sleep 0.05; done
if [[ -e $FAKE/broken ]]; then echo 'b.go:1: no such thing' >&2; exit 1; fi
while [[ $1 != -o ]]; do shift; done
out=$2; shift 2
for package in "$@"; do
  name=$out
  [[ $out != */ ]] || name=$out$(basename "$package")
  printf '#!/bin/sh\\n' >"$name" && chmod +x "$name"
done
`;
/** build.sh reports its progress every 15 s. */
const SLEEP = '#!/bin/sh\nexec /bin/sleep 0.1\n';

let root: string;
let fake: string;
const running: Promise<number>[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lab-build-'));
  fake = join(root, 'fake');
  mkdirSync(fake);
  for (const [name, text] of Object.entries({ go: GO, sleep: SLEEP }))
    writeFileSync(join(fake, name), text, { mode: 0o755 });
  for (const part of ['build.sh', 'lib', 'modules']) cpSync(LAB + part, join(root, 'lab', part), { recursive: true });
});
afterEach(async () => {
  free();
  await Promise.all(running.splice(0));
  rmSync(root, { recursive: true });
});

interface Build {
  readonly pid: number;
  readonly printed: () => string;
  /** Exit code, after the process has ended. */
  readonly ended: Promise<number>;
}

function start(...args: string[]): Build {
  const env = {
    ...process.env,
    PATH: `${fake}:${process.env.PATH}`,
    FAKE: fake,
    TRAFFIC_LAB_CACHE: join(root, 'cache'),
  };
  const child = spawn(join(root, 'lab/build.sh'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (printed += data.toString()));
  const ended = once(child, 'close').then(([code]) => code as number);
  running.push(ended);
  return { pid: child.pid!, printed: () => printed, ended };
}

/** Runs to the end; resolves to the output. */
async function build(...args: string[]): Promise<string> {
  const { ended, printed } = start(...args);
  expect([await ended, printed()]).toEqual([0, expect.any(String)]);
  return printed();
}

const hold = (): void => writeFileSync(join(fake, 'hold'), '');
const free = (): void => rmSync(join(fake, 'hold'), { force: true });
const builds = (): number =>
  existsSync(join(fake, 'builds')) ? readFileSync(join(fake, 'builds'), 'utf8').trim().split('\n').length : 0;
const binDir = async (): Promise<string> => (await build('--print-bin')).trim();

/** Names of the programs that a shell waits for. */
function waitsFor(pid: number): string[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return pids.map((child) => readFileSync(`/proc/${child}/comm`, 'utf8').trim());
}

describe('build.sh', () => {
  it('tells which family of how many it builds, and how far it is', async () => {
    hold();
    const { printed, ended } = start('pause', 'etcd');
    await vi.waitFor(() => expect(printed()).toMatch(/^ +\d+s {2}\[1\/2\] pause: 3 packages compiled so far$/m), WAIT);
    free();
    expect(await ended).toBe(0);
    expect(printed()).toMatch(/^ +\d+s {2}\[1\/2\] pause: building pause$/m);
    expect(printed()).toMatch(/^ +\d+s {2}\[2\/2\] etcd: building etcd$/m);
    const bin = await binDir();
    expect(printed()).toContain(`built 2 of 2 families into ${bin}`);
    expect([existsSync(join(bin, 'pause')), existsSync(join(bin, 'etcd'))]).toEqual([true, true]);
  });

  it('builds nothing that is there, and again what has another version', async () => {
    const bin = /into (.*)$/m.exec(await build('pause', 'etcd'))?.[1] ?? '';
    expect(await build('pause', 'etcd')).toBe('');
    expect(builds()).toBe(2);

    appendFileSync(join(root, 'lab/modules/etcd/go.mod'), '// another version\n');
    const other = await binDir();
    expect(dirname(other)).not.toBe(dirname(bin));
    // Unchanged programs also exist under the new name.
    expect([existsSync(join(other, 'pause')), existsSync(join(other, 'etcd'))]).toEqual([true, false]);
    expect(await build('pause', 'etcd')).toContain('[1/1] etcd: building etcd');
    expect([builds(), existsSync(join(other, 'etcd'))]).toEqual([3, true]);
  });

  it('builds a family once when two calls want it at the same time', async () => {
    hold();
    const first = start('pause');
    await vi.waitFor(() => expect(builds()).toBe(1), WAIT);
    const second = start('pause');
    await vi.waitFor(() => expect(builds() > 1 || waitsFor(second.pid).includes('flock')).toBe(true), WAIT);
    free();
    expect([await first.ended, await second.ended]).toEqual([0, 0]);
    expect(builds()).toBe(1);
    expect(second.printed()).not.toContain('building');
  });

  it('says what the compiler said when it fails, and takes nothing of it for built', async () => {
    writeFileSync(join(fake, 'broken'), '');
    const { ended, printed } = start('pause');
    expect(await ended).not.toBe(0);
    expect(printed()).toContain('[1/1] pause failed');
    expect(printed()).toContain('b.go:1: no such thing');
    rmSync(join(fake, 'broken'));
    expect(await build('pause')).toContain('[1/1] pause: building pause');
  });
});
