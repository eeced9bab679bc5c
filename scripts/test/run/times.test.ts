import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runTimed } from './command.ts';
import { machineCpuSeconds } from './cpu.ts';
import { cpuBesides, showTimes, type Times } from './times.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Computes for 0.3 s of CPU time. */
const BUSY = 'while (process.cpuUsage().user < 300_000);';
const TIMES: Times = {
  date: '2026-01-01T00:00:00.000Z',
  passed: 1,
  failed: 0,
  seconds: 100,
  levels: [
    { level: 'unit', passed: 1, failed: 0, seconds: 60, cpuSeconds: 50 },
    { level: 'e2e', passed: 1, failed: 0, seconds: 90, cpuSeconds: 20 },
  ],
  buildsCpuSeconds: 0,
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'times-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('a command', () => {
  it('has the CPU time of its children, and its output has nothing of that', async () => {
    const output = openSync(join(directory, 'output'), 'w');
    const script = `require('node:child_process').spawnSync(process.execPath, ['-e', '${BUSY}']); console.error('x'); process.exitCode = 3`;
    const { status, cpuSeconds } = await runTimed([process.execPath, '-e', script], { output });
    closeSync(output);
    expect(status).toBe(3);
    expect(cpuSeconds).toBeGreaterThanOrEqual(0.3);
    expect(readFileSync(join(directory, 'output'), 'utf8')).toBe('x\n');
  });
});

it('the machine has the CPU time of all processes, where the system tells it', () => {
  const stat = join(directory, 'stat');
  writeFileSync(stat, 'cpu  100 200 300 9000 9000 400 500 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\n');
  expect(machineCpuSeconds(stat)).toBe(15);
  expect(machineCpuSeconds(join(directory, 'none'))).toBeUndefined();
});

describe.runIf(process.platform === 'linux')('a test file', () => {
  it('has the CPU time of its own and of a child that still runs', () => {
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    const child = `spawn(process.execPath, ['-e', "${BUSY} console.log('done'); process.stdin.resume()"])`;
    writeFileSync(
      join(directory, 'a.test.ts'),
      `import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      import { it } from 'vitest';
      it('waits', { timeout: 60_000 }, () => once(${child}.stdout, 'data'));`,
    );
    const setup = join(ROOT, 'test/harness/fileTimes.ts');
    writeFileSync(join(directory, 'vitest.config.ts'), `export default { test: { setupFiles: '${setup}' } };`);
    const report = join(directory, 'files.jsonl');
    const env = { ...process.env, TEST_FILE_TIMES: report };
    execFileSync(join(ROOT, 'node_modules/.bin/vitest'), ['run'], { cwd: directory, env, stdio: 'ignore' });
    const { file, seconds, cpuSeconds } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, unknown>;
    expect(file).toBe('a.test.ts');
    expect(cpuSeconds).toBeGreaterThanOrEqual(0.3);
    expect(seconds).toBeGreaterThan(0);
  });
});

describe('make test-times', () => {
  const show = () =>
    spawnSync(process.execPath, [join(ROOT, 'scripts/test/run/times.ts')], { cwd: directory, encoding: 'utf8' });

  it('says what to run where there is no report', () => {
    const { status, stderr } = show();
    expect([status, stderr]).toEqual([1, expect.stringContaining('run `make test`')]);
  });

  it('reads what the runs of the levels have left', () => {
    mkdirSync(join(directory, 'reports'));
    writeFileSync(join(directory, 'reports/times.json'), JSON.stringify(TIMES));
    writeFileSync(join(directory, 'reports/e2e.files.jsonl'), '{"file":"x.test.ts","seconds":42}\n');
    expect(show().stdout).toMatch(/^ +42 +x\.test\.ts \(e2e\)$/m);
  });

  it('has the levels, what no level has, and the slowest files', () => {
    const files = [1, 3, 2].map((seconds) => ({
      file: `${seconds}.ts`,
      level: 'unit',
      seconds,
      cpuSeconds: 10 * seconds,
    }));
    expect(
      showTimes({ ...TIMES, machineCpuSeconds: 100 }, files, 2)
        .split('\n')
        .slice(2),
    ).toEqual([
      '  wall s    CPU s  level',
      '      60       50  unit',
      '      90       20  e2e',
      '               30  lab and others',
      '     100      100  total',
      '',
      'The 2 slowest of 3 files',
      '  wall s    CPU s  file',
      '       3       30  3.ts (unit)',
      '       2       20  2.ts (unit)',
      '',
    ]);
  });
});

it.each<{ why: string; times: Partial<Times>; rows: [string, number][] }>([
  { why: 'Only Linux reports the whole machine', times: {}, rows: [['total', 70]] },
  {
    why: 'Builds are no level, and not others either',
    times: { buildsCpuSeconds: 10, machineCpuSeconds: 100 },
    rows: [
      ['builds ahead', 10],
      ['lab and others', 20],
      ['total', 100],
    ],
  },
])('$why', ({ times, rows }) => expect(cpuBesides({ ...TIMES, ...times })).toEqual(rows));
