import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/test/longestFirst.ts';

const setupFiles = ['test/harness/waitFor.ts'];

/** The levels, each a project: what needs nothing, a real API server, helm, buildah, the lab. */
export default defineConfig({
  // With how long each file took, by which the next run is ordered: outside of node_modules, which npm ci empties.
  cacheDir: '.cache/vite',
  test: {
    sequence: { sequencer: LongestFirst },
    // Taking down the lab of e2e takes 2 s, and longer on a busy machine.
    teardownTimeout: 120_000,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'test/{demo,bench}/**/*.test.ts'],
          setupFiles,
          // Not a measure of speed: a test that takes 1 s by itself takes many where the machine is in other use.
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          setupFiles,
          // No measures of speed either: each wait has a deadline of its own, and these are longer than several of them.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Each file brings servers of its own, which wait half of the time.
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          setupFiles,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // They wait even more: for timeouts to run out, for servers to come back. But what they wait for has deadlines.
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'chart',
          include: ['test/chart/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'image',
          include: ['test/image/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/storyLab/globalSetup.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
