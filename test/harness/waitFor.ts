import { vi } from 'vitest';

/**
 * Set-up of every test: the default timeout of `vi.waitFor`. Vitest's default of one second depends on the speed of the
 * machine; a longer deadline costs nothing if the condition becomes true.
 */
const DEADLINE_MS = 120_000;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: DEADLINE_MS, ...options });
