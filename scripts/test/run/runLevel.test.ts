import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildAhead, runLevel, runLevelBeside } from './runLevel.ts';

const node = (script: string): string[] => [process.execPath, '-e', script];

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'levels-'));
  vi.spyOn(console, 'log').mockReturnValue();
});
afterEach(() => {
  rmSync(directory, { recursive: true });
  vi.restoreAllMocks();
});

describe('a level', () => {
  it('that cannot run counts as failed, and says why and how to leave it out', async () => {
    const commands = [node('process.exit(0)')];
    const result = await runLevel({ name: 'e2e', commands, unmet: () => 'needs root' });
    expect(result).toMatchObject({ passed: 0, failed: 1 });
    expect(result.problem).toBe('cannot run: needs root; WITHOUT="e2e" leaves it out');
  });

  it('whose requirement cannot be looked at or installed counts as failed, and the others go on', async () => {
    const unmet = (): string => {
      throw new Error('apt-get failed\nat length');
    };
    const result = await runLevel({ name: 'shell', commands: [], unmet });
    expect(result).toMatchObject({
      failed: 1,
      problem: 'cannot run: apt-get failed; WITHOUT="shell" leaves it out',
    });
  });

  it('without a runner counts as one test', async () => {
    const unmet = () => undefined;
    expect(await runLevel({ name: 'x', commands: [node('')], unmet })).toMatchObject({ passed: 1, failed: 0 });
  });

  it('ends with its first command that fails', async () => {
    const witness = join(directory, 'ran');
    const commands = [node('process.exit(3)'), node(`fs.writeFileSync(${JSON.stringify(witness)}, '')`)];
    const result = await runLevel({ name: 'x', commands });
    expect(result).toMatchObject({ passed: 0, failed: 1 });
    expect(result.problem).toMatch(/^FAILED: .*\(status 3\)$/);
    expect(() => rmSync(witness)).toThrow();
  });

  it.each([
    ['a command', { commands: [node('setInterval(() => {}, 1000)')] }],
    ['the tests', { vitest: { projects: ['unit'], paths: [] } }],
  ])('that does not end counts as failed: %s', async (_, runs) => {
    const [bin, path] = [join(directory, 'bin'), process.env.PATH!];
    mkdirSync(bin);
    writeFileSync(join(bin, 'vitest'), '#!/bin/sh\nsleep 600\n', { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${path}`);
    const result = await runLevel({ name: 'no-such-level', ...runs }, 1_200);
    expect(result).toMatchObject({
      passed: 0,
      failed: 1,
      problem: expect.stringMatching(/^FAILED: no end after 0\.02 min: /) as string,
    });
    vi.unstubAllEnvs();
  });

  it('whose program is not there counts as failed', async () => {
    vi.spyOn(console, 'error').mockReturnValue();
    expect(await runLevel({ name: 'x', commands: [['no-such-program']] })).toMatchObject({ passed: 0, failed: 1 });
  });
});

it('a level passes its variables on to its commands', async () => {
  const commands = [node("process.exitCode = process.env.FULL_SAMPLES === '1' ? 0 : 1")];
  vi.stubEnv('FULL_SAMPLES', undefined);
  expect(await runLevel({ name: 'x', commands })).toMatchObject({ passed: 0 });
  expect(await runLevel({ name: 'x', commands, env: { FULL_SAMPLES: '1' } })).toMatchObject({ passed: 1 });
  vi.unstubAllEnvs();
});

it('a level has no variables of the make that runs it: its tests call make with others', async () => {
  vi.stubEnv('MAKEFLAGS', ' -- WITHOUT=e2e');
  vi.stubEnv('WITHOUT', 'e2e');
  const commands = [
    node('process.exitCode = process.env.MAKEFLAGS === undefined && process.env.WITHOUT === undefined ? 0 : 1'),
  ];
  expect(await runLevel({ name: 'x', commands })).toMatchObject({ passed: 1, failed: 0 });
  vi.unstubAllEnvs();
});

describe('what levels are to have built', () => {
  const before = process.cwd();
  beforeEach(() => {
    mkdirSync(join(directory, 'test/lab'), { recursive: true });
    writeBuild('echo "$*" >> built');
    process.chdir(directory);
  });
  afterEach(() => process.chdir(before));

  function writeBuild(script: string): void {
    writeFileSync(join(directory, 'test/lab/build.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const built = (): string[] => (existsSync('built') ? readFileSync('built', 'utf8').trim().split('\n') : []);

  it('is built before their commands', async () => {
    const commands = [node("fs.appendFileSync('built', 'then\\n')")];
    expect(await runLevel({ name: 'x', builds: ['k8s', 'etcd'], commands })).toMatchObject({ passed: 1, failed: 0 });
    expect(built()).toEqual(['k8s etcd', 'then']);
  });

  it('fails the level where it cannot be built', async () => {
    writeBuild('exit 7');
    const { failed, problem } = await runLevel({ name: 'x', builds: ['k8s'] });
    expect({ failed, problem }).toEqual({ failed: 1, problem: 'FAILED: test/lab/build.sh k8s (status 7)' });
  });

  it('is built ahead, each family once, but not for one that cannot run', async () => {
    const cannot = () => 'needs root';
    const levels = [{ builds: ['k8s', 'etcd'] }, { builds: ['etcd', 'helm'] }, { builds: ['x'], unmet: cannot }, {}];
    await buildAhead(levels.map((level) => ({ name: 'x', ...level })));
    expect(built()).toEqual(['k8s etcd helm']);
  });

  it('is nothing ahead where none needs anything', async () => {
    await buildAhead([{ name: 'x' }, { name: 'y', commands: [node('')] }]);
    expect(built()).toEqual([]);
  });
});

describe('a level together with others', () => {
  const before = process.cwd();
  beforeEach(() => {
    mkdirSync(join(directory, 'reports'));
    process.chdir(directory);
  });
  afterEach(() => process.chdir(before));

  const says = "console.log('priority ' + os.getPriority()); console.error('and an error')";
  const printed = (): string => String(vi.mocked(console.log).mock.lastCall?.[0]);
  const priority = (): number => Number(/priority (-?\d+)/.exec(printed())![1]);

  it('prints in one piece at its end', async () => {
    const result = await runLevelBeside({ name: 'x', commands: [node(says), node('process.exit(3)')] });
    expect(result).toMatchObject({ passed: 0, failed: 1 });
    expect(console.log).toHaveBeenCalledTimes(1);
    expect(printed()).toMatch(/^\n=== x, with the others\npriority -?\d+\nand an error\n$/);
  });

  it('gives way to them where it computes, but not where what it waits for has deadlines', async () => {
    await runLevelBeside({ name: 'x', commands: [node(says)] });
    expect(priority()).toBeGreaterThan(getPriority());
    await runLevelBeside({ name: 'x', commands: [node(says)], waits: 'for cluster' });
    expect(priority()).toBe(getPriority());
  });
});
