import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { docTests } from './docTests.ts';
import { git } from './change/git.ts';
import { LEVELS } from './levels.ts';
import { isIn, LONG_LEVELS, pathsOf } from './longLevels.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const tracked = git(ROOT, 'ls-files').split('\n');

describe.each(LONG_LEVELS)('the long level $name', (level) => {
  const { name, why, paths, runs, env = {} } = level;

  it('says why, and has a name of its own', () => {
    expect(why).toMatch(/^[A-Z].*\.$/);
    expect(LEVELS.filter((level) => level.name === name)).toHaveLength(1);
  });

  it('has paths that match files, and tests that exist', () => {
    expect(pathsOf(level).filter((path) => !tracked.some((file) => isIn(file, [path])))).toEqual([]);
    // What servers do depends on more than what a test imports.
    expect(paths === undefined).toBe(runs.level === 'unit');
    expect(runs.tests.filter((test) => !existsSync(join(ROOT, test)))).toEqual([]);
  });

  it('runs with the requirements of its ordinary level, in full samples', () => {
    const [own, ordinary] = [name, runs.level].map((each) => LEVELS.find((one) => one.name === each));
    expect(own).toMatchObject({ onRequest: true, phase: 2, env: { FULL_SAMPLES: '1' } });
    expect(own?.builds).toEqual([...(ordinary?.builds ?? []), ...(runs.builds ?? [])]);
    expect(own?.unmet).toBe(ordinary?.unmet);
  });

  it('sets variables that its tests read', () => {
    const files = tracked.filter((file) => file.endsWith('.test.ts') && isIn(file, runs.tests));
    const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
    expect(Object.keys(env).filter((name) => !texts.some((text) => text.includes(`process.env.${name} ??`)))).toEqual(
      [],
    );
  });
});

it('each test that takes a small sample runs in full in a long level', () => {
  const sampled = globSync('{src,scripts,test}/**/*.test.ts', { cwd: ROOT }).filter((file) =>
    /from '.*\/sampleSize\.ts'/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  const inFull = LONG_LEVELS.flatMap(({ runs }) => runs.tests);
  expect(sampled.filter((file) => !isIn(file, inFull) && !file.endsWith('/sampleSize.test.ts'))).toEqual([]);
});

it('finds the tests that read documents by what they read', () => {
  const found = docTests();
  expect(found).toEqual(
    expect.arrayContaining([
      'scripts/docs.test.ts',
      'src/commands/weights/flags.test.ts',
      'test/chart/openshiftDoc.test.ts',
      'test/integration/readme.test.ts',
      'test/integration/stacks/stackDoc.test.ts',
    ]),
  );
  expect(found).not.toContain('test/integration/trafficwatch.test.ts');
});
