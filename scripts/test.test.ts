import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { choose } from './test/choose.ts';
import { LEVELS } from './test/levels.ts';
import { LONG_LEVELS } from './test/longLevels.ts';
import { needsGo, needsImage, needsLab } from './test/requirements.ts';
import { phasesOf } from './test/run/schedule.ts';
import { countsOf, summarize } from './test/run/summary.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const ALL_NAMES = LEVELS.map(({ name }) => name);
const NAMES = LEVELS.filter(({ onRequest }) => !onRequest).map(({ name }) => name);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'test-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('the levels that run', () => {
  const chosen = (lists: { only?: string; with?: string; without?: string }): string[] =>
    choose(LEVELS, lists).chosen.map(({ name }) => name);

  it('are all but those that are left out by name', () => {
    expect(chosen({})).toEqual(NAMES);
    expect(chosen({ without: '' })).toEqual(NAMES);
    expect(chosen({ without: 'e2e image' })).toEqual(NAMES.filter((name) => name !== 'e2e' && name !== 'image'));
    expect(chosen({ only: 'unit,lint' })).toEqual(['lint', 'unit']);
    expect(choose(LEVELS, { without: 'e2e' }).leftOut).toEqual(['e2e']);
  });

  it('that take minutes run when they are asked for', () => {
    expect(chosen({ with: 'faults bench docs long' })).toEqual(ALL_NAMES);
    expect(chosen({ only: 'faults' })).toEqual(['faults']);
    expect(chosen({ only: 'long' })).toEqual(LONG_LEVELS.map(({ name }) => name));
    expect(chosen({})).not.toContain('faults');
  });

  it('must be known: another name is exit status 2, and nothing runs', () => {
    const args = [join(ROOT, 'scripts/test.ts'), '--without', 'e2e chart-image'];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, env: {}, encoding: 'utf8' });
    expect(stderr).toBe(`--without: there is no level chart-image, only ${ALL_NAMES.join(', ')}\n`);
    expect([status, existsSync(join(directory, 'reports'))]).toEqual([2, false]);
  });

  it('leave nothing to pass when all are left out', () => {
    const args = [join(ROOT, 'scripts/test.ts'), '--without', NAMES.join(' ')];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: directory, env: {}, encoding: 'utf8' });
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([1, '0 passed, 1 failed']);
    expect(readFileSync(join(directory, 'reports/summary.txt'), 'utf8')).toBe(stdout);
  });
});

describe('the order of levels', () => {
  const names = (levels: readonly { name: string }[]): string[] => levels.map(({ name }) => name);

  it('puts levels that wait next to levels that compute, then the others, then the long levels', () => {
    const [first = [], ...later] = phasesOf(LEVELS);
    expect(first.slice(0, 2).map(names)).toEqual([['unit', 'tools', 'integration', 'docs'], ['e2e']]);
    expect(later.map((lanes) => lanes.map(names))).toEqual([
      [['faults'], ['bench']],
      [expect.arrayContaining(['localise', 'kills', 'soaks']), ['opensdn', 'olm']],
    ]);
    expect(new Set([first, ...later].flat(2))).toEqual(new Set(LEVELS));
  });

  it('has nothing before those that come last where only they run', () => {
    const { chosen } = choose(LEVELS, { only: 'bench' });
    expect(phasesOf(chosen)).toEqual([[chosen]]);
  });
});

describe('the summary', () => {
  const result = (level: string, passed: number, failed: number, problem?: string) => ({
    ...{ level, passed, failed, seconds: 1, cpuSeconds: 2, failures: [] as string[] },
    ...(problem === undefined ? {} : { problem }),
  });
  type Results = ReturnType<typeof result>[];
  const summary = (results: Results, leftOut: string[] = []): string =>
    summarize(results, leftOut, { date: '', ...countsOf(results), seconds: 3, levels: results, buildsCpuSeconds: 0 });

  it('has a line a level, and ends with the counts', () => {
    const text = summary([result('unit', 7, 2), result('e2e', 0, 1, 'cannot run: needs root')], ['image']);
    expect(text).toMatch(/^ +unit +7 passed +2 failed +1 s +2 s CPU +FAILED$/m);
    expect(text).toMatch(/^ +e2e .* cannot run: needs root$/m);
    expect(text).toMatch(/^ +total +3 s +4 s CPU$/m);
    expect(text).toMatch(/^ +image +left out by name$/m);
    expect(text.split('\n').slice(-2)).toEqual(['7 passed, 3 failed', '']);
  });

  it('names what failed after the levels, where it is not scrolled away', () => {
    const unit = { ...result('unit', 1, 1), failures: ['src/a.test.ts > b: expected 1'] };
    expect(
      summary([unit, result('e2e', 1, 0)])
        .split('\n')
        .slice(-5),
    ).toEqual(['failed in unit:', '  src/a.test.ts > b: expected 1', '', '2 passed, 1 failed', '']);
  });

  it.each<[Results, number]>([
    [[], 1],
    [[result('unit', 0, 0)], 1],
    [[result('unit', 1, 0)], 0],
  ])('of %j has %i failed', (results, failed) => expect(countsOf(results).failed).toBe(failed));
});

describe('what a level needs', () => {
  const install = (...programs: readonly string[]): void => {
    for (const program of programs) writeFileSync(join(directory, program), '');
    vi.stubEnv('PATH', directory);
  };

  it('is Go as long as something is to be built', () => {
    install();
    expect(needsGo(['k8s', 'helm'], () => false)).toBe('needs Go 1.21 or newer to build k8s, helm (https://go.dev/dl)');
    expect(needsGo(['k8s'], () => true)).toBeUndefined();
    install('go');
    expect(needsGo(['k8s'], () => false)).toBeUndefined();
  });

  it.each(['generated', 'integration', 'chart', 'e2e'])('is named by %s when Go is missing', (name) => {
    vi.stubEnv('TRAFFIC_LAB_CACHE', directory);
    vi.stubEnv('HELM', undefined);
    install();
    asRootOnLinux();
    expect(LEVELS.find((level) => level.name === name)?.unmet?.()).toMatch(/^needs Go 1\.21 or newer/);
  });

  it('is root for what is done to the machine', () => {
    asRootOnLinux(1000);
    expect(needsLab()).toBe('needs root for network namespaces, this is user 1000');
    expect(needsImage()).toBe('needs root for buildah and chroot, this is user 1000');
  });

  it('is buildah for the image, where it cannot be installed', () => {
    asRootOnLinux();
    install('busybox');
    expect(needsImage()).toBe('needs buildah (Debian: apt-get install buildah)');
    install('apt-get');
    expect(needsImage()).toBeUndefined();
  });

  function asRootOnLinux(uid = 0): void {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('linux');
    vi.spyOn(process as Required<Pick<NodeJS.Process, 'getuid'>>, 'getuid').mockReturnValue(uid);
  }
});

describe('.ci/run', () => {
  /** Runs it with a `make test` that has this recipe, after an earlier successful run; `change` prints the levels that the change needs. */
  function ci(recipe: string, change = 'echo unit lint'): { status: number | null; last: string | undefined } {
    mkdirSync(join(directory, 'reports'));
    writeFileSync(join(directory, 'reports/summary.txt'), '\n\n900 passed, 0 failed\n');
    cpSync(join(ROOT, '.ci'), join(directory, '.ci'), { recursive: true });
    chmodSync(join(directory, '.ci/run'), 0o755);
    writeFileSync(join(directory, 'Makefile'), `setup:\nchange:\n\t@${change}\ntest:\n\t@${recipe}\n`);
    const { status, stdout } = spawnSync(join(directory, '.ci/run'), { encoding: 'utf8' });
    return { status, last: stdout.split('\n').at(-2) };
  }

  it('ends with the counts of this run', () => {
    const recipe = "printf '\\n6 passed, 2 failed\\n' > reports/summary.txt; exit 1";
    // Of make, whatever its recipe exits with.
    expect(ci(recipe)).toEqual({ status: 2, last: '6 passed, 2 failed' });
  });

  it('runs the levels that the change needs', () => {
    const recipe = '[ "$(ONLY)" = "unit lint" ] && echo "1 passed, 0 failed" > reports/summary.txt';
    expect(ci(recipe)).toEqual({ status: 0, last: '1 passed, 0 failed' });
  });

  it('leaves out nothing that the environment names', () => {
    for (const name of ['WITH', 'WITHOUT', 'ONLY']) vi.stubEnv(name, 'e2e');
    vi.stubEnv('MAKEFLAGS', ' -- WITHOUT=e2e ONLY=e2e');
    const recipe =
      '[ "$(ONLY)/$(WITH)/$(WITHOUT)" = "unit lint//" ] && echo "1 passed, 0 failed" > reports/summary.txt';
    expect(ci(recipe)).toEqual({ status: 0, last: '1 passed, 0 failed' });
  });

  it.each([
    { why: 'tests were not reached', recipe: 'exit 1' },
    { why: 'tests did not come to their end', recipe: 'echo half > reports/summary.txt; exit 1' },
    { why: 'it is unknown what the change needs', recipe: 'true', change: 'exit 1' },
  ])('ends with a failure when $why', ({ recipe, change }) => {
    expect(ci(recipe, change)).toEqual({ status: 2, last: '0 passed, 1 failed' });
  });
});
