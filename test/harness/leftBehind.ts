import { afterAll, vi } from 'vitest';
import { endLeftProcesses } from './process.ts';

/**
 * Set-up of every file of tests. The next file may run in the same process, and must find no time, environment variable,
 * spy or server of this one there.
 */
const { waitFor } = vi;

afterAll(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.waitFor = waitFor;
  await endLeftProcesses();
});
