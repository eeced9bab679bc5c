import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import config from '../../vitest.config.ts';
import { git } from './change/git.ts';
import { LEVELS } from './levels.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Project {
  readonly name: string;
  readonly allowOnly?: boolean;
  readonly retry?: unknown;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
}

/** Projects of vitest.config.ts, each written out there. */
const projects = config.test!.projects!.map((project) => (project as { test: Project }).test);

/** Tests that are not of the project that has their folder, each of another project. */
const OF_OTHERS = {
  'test/integration/stacks/kills.test.ts': 'faults',
  'test/e2e/stackDemo.test.ts': 'e2e-long',
  'test/e2e/olm.test.ts': 'e2e-long',
};

/** The names of the projects that run a file. */
const projectsOf = (file: string): string[] =>
  projects
    .filter(({ include, exclude = [] }) => isOneOf(file, include) && !isOneOf(file, exclude))
    .map(({ name }) => name);

const isOneOf = (file: string, globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(file, glob));

it('each test file is of one project, which some level runs', () => {
  const files = git(ROOT, 'ls-files', '*.test.ts').split('\n');
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => projectsOf(file).length !== 1)).toEqual([]);
  const run = new Set(LEVELS.flatMap(({ vitest }) => vitest?.projects ?? []));
  expect(projects.map(({ name }) => name).filter((name) => !run.has(name))).toEqual([]);
});

it('a project leaves out a file by its name, for another project', () => {
  const own = projects.flatMap(({ exclude = [] }) => exclude).filter((glob) => glob.endsWith('.test.ts'));
  expect(own.sort()).toEqual(Object.keys(OF_OTHERS).sort());
  for (const [file, project] of Object.entries(OF_OTHERS)) expect(projectsOf(file)).toEqual([project]);
});

it.each(projects)('$name has no test that runs alone, or again until it passes', ({ allowOnly, retry }) => {
  expect({ allowOnly, retry }).toEqual({ allowOnly: false, retry: undefined });
});
