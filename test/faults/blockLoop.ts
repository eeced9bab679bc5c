import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Loaded into a process with `node --import`, so that a test can block its event loop: at SIGUSR2 it stands still for as
 * many milliseconds as the file says that is named by `?file=` of this module's own URL; when it began to, wall clock
 * milliseconds, is written into a file of that name with `.begun` at the end.
 */
const file = new URL(import.meta.url).searchParams.get('file') ?? '';

process.on('SIGUSR2', () => {
  const ms = Number(readFileSync(file, 'utf8'));
  writeFileSync(`${file}.begun`, String(Date.now()));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
});
