import { vi } from 'vitest';

/**
 * Set up before every test: what `vi.waitFor` waits for where it is not told. Vitest's own second is a measure of speed,
 * which a machine in other use does not keep; a deadline costs nothing where the condition comes true.
 */
const DEADLINE_MS = 20_000;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: DEADLINE_MS, ...options });
