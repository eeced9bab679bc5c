import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/test/longestFirst.ts';

const fileTimes = 'test/harness/fileTimes.ts';
// leftBehind keeps what waitFor replaces.
const setupFiles = [fileTimes, 'test/harness/leftBehind.ts', 'test/harness/waitFor.ts'];
const globalSetup = ['test/harness/bundleOperator.ts', 'test/harness/etcdTemplate.ts'];
/**
 * The files of a level share the processes of its workers. A new process for each file takes 0.4 s of CPU time in unit, and 1.7 s where tests
 * speak to an API server, most of it for the same modules again. They may share, since what decides keeps no state in modules (see
 * scripts/lint/moduleState.ts) and no test replaces a module; what else a file changes, leftBehind takes back.
 */
const isolate = false;
/** Leaders are killed, which takes two processors. It is a fault, and has the stacks of its neighbours in integration. */
const KILLS = 'test/integration/stacks/kills.test.ts';
/** Of what tests start. Servers in Go collect garbage less often, which saves a fifth of the CPU time of an API server that starts. */
const env = { GOGC: process.env.GOGC ?? '400' };

/** Stories of long levels (scripts/test/longLevels.ts): OpenSDN on six nodes, and OLM. */
const LONG_STORIES = ['test/e2e/stackDemo.test.ts', 'test/e2e/olm.test.ts'];
const common = {
  // A failure is read in the summary of a run, which has the message alone.
  chaiConfig: { truncateThreshold: 1000 },
  // A forgotten it.only would leave out the other tests of its file. --allowOnly permits it.
  allowOnly: false,
};
/** Projects that need no servers of Kubernetes. */
const withoutServers = {
  ...common,
  ...{ setupFiles, isolate },
  // Half of the time of a worker is waiting, for timeouts and for programs: vitest's default, one on two cores, leaves cores idle.
  maxWorkers: 3,
  // No measures of speed: a test that takes 1 s by itself takes many where the machine is in other use. And longer than the deadline of
  // vi.waitFor, whose error says what was awaited.
  testTimeout: 150_000,
  hookTimeout: 150_000,
};
/** Projects in the lab. */
const inLab = {
  setupFiles: fileTimes,
  ...common,
  env,
  globalSetup: ['test/e2e/storyLab/globalSetup.ts'],
  // Longer than several deadlines of a test, see test/harness/slack.ts.
  testTimeout: 900_000,
  hookTimeout: 600_000,
  fileParallelism: false,
};

/** The levels, each a project: what needs nothing, a real API server, helm, buildah, the lab. */
export default defineConfig({
  // With how long each file took, by which the next run is ordered: outside of node_modules, which npm ci empties.
  cacheDir: '.cache/vite',
  test: {
    sequence: { sequencer: LongestFirst },
    // Taking down the lab of e2e takes 2 s, and longer on a busy machine.
    teardownTimeout: 240_000,
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'], ...withoutServers } },
      {
        test: {
          name: 'tools',
          include: ['scripts/**/*.test.ts', 'test/{demo,bench,guards}/**/*.test.ts'],
          ...withoutServers,
        },
      },
      {
        test: {
          name: 'integration',
          ...common,
          include: ['test/integration/**/*.test.ts'],
          exclude: [...configDefaults.exclude, KILLS],
          ...{ setupFiles, isolate, globalSetup, env },
          // No measures of speed either: each wait has a deadline of its own, and these are longer than several of them.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Each file brings servers of its own, which wait half of the time: with two workers the level would take half as long again.
          maxWorkers: 3,
          // The level docs runs tests of unit, integration and chart: projects with other numbers of workers run one after the other.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'faults',
          ...common,
          include: ['test/faults/**/*.test.ts', KILLS],
          ...{ setupFiles, globalSetup, env },
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // They wait even more: for timeouts to run out, for servers to come back. But what they wait for has deadlines.
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'chart',
          ...common,
          include: ['test/chart/**/*.test.ts'],
          ...{ setupFiles, isolate, globalSetup, env },
          testTimeout: 300_000,
          hookTimeout: 600_000,
          // One at a time: the API servers of two beside other levels missed deadlines of helm and kubectl.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'image',
          ...common,
          include: ['test/image/**/*.test.ts'],
          setupFiles: fileTimes,
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...LONG_STORIES],
          ...inLab,
        },
      },
      {
        test: {
          name: 'e2e-long',
          include: LONG_STORIES,
          ...inLab,
        },
      },
    ],
  },
});
