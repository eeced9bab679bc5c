import { afterAll, vi } from 'vitest';

/**
 * Set-up of every file of tests. The next file may run in the same process, and must find no time, environment variable
 * or spy of this one there.
 */
const { waitFor } = vi;

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.waitFor = waitFor;
});
