import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { docTests } from './docTests.ts';
import { git } from './git.ts';
import { LEVELS } from './levels.ts';
import { isIn, LONG_LEVELS } from './longLevels.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const tracked = git(ROOT, 'ls-files').split('\n');

describe.each(LONG_LEVELS)('the long level $name', ({ name, why, paths, runs }) => {
  it('says why, and has a name of its own', () => {
    expect(why).toMatch(/^[A-Z].*\.$/);
    expect(LEVELS.filter((level) => level.name === name)).toHaveLength(1);
  });

  it('has paths that match files, and tests that exist', () => {
    expect(paths.filter((path) => !tracked.some((file) => isIn(file, [path])))).toEqual([]);
    expect(runs.tests.filter((test) => !existsSync(join(ROOT, test)))).toEqual([]);
  });

  it('runs with the requirements of its ordinary level, in full samples', () => {
    const [level, ordinary] = [name, runs.level].map((each) => LEVELS.find((one) => one.name === each));
    expect(level).toMatchObject({ onRequest: true, phase: 2, env: { FULL_SAMPLES: '1' } });
    expect([level?.builds, level?.unmet]).toEqual([ordinary?.builds, ordinary?.unmet]);
  });
});

it('each test that takes a small sample runs in full in a long level', () => {
  const sampled = globSync('src/**/*.test.ts', { cwd: ROOT }).filter((file) =>
    readFileSync(join(ROOT, file), 'utf8').includes('/sampleSize.ts'),
  );
  const inFull = LONG_LEVELS.flatMap(({ runs }) => runs.tests);
  expect(sampled.filter((file) => !isIn(file, inFull) && !file.endsWith('/sampleSize.test.ts'))).toEqual([]);
});

it('finds the tests that read documents by what they read', () => {
  const found = docTests();
  expect(found).toEqual(
    expect.arrayContaining([
      'scripts/docs.test.ts',
      'src/commands/weights/spec.test.ts',
      'test/chart/openshiftDoc.test.ts',
      'test/integration/readme.test.ts',
      'test/integration/stacks/stackDoc.test.ts',
    ]),
  );
  expect(found).not.toContain('test/integration/trafficwatch.test.ts');
});
