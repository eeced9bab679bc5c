import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { kubeConfigFor } from '../testing/kubeConfig.ts';
import { CredentialFiles } from './credentials.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'files-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const at = (name: string): string => join(directory, name);

function filesOf(
  names: { caFile?: string; certFile?: string; keyFile?: string; tokenFile?: string },
  clock: FakeClock,
) {
  return new CredentialFiles(kubeConfigFor({ server: 'https://127.0.0.1:1', ...names }), clock);
}

it.each(['caFile', 'certFile', 'keyFile', 'tokenFile'])('detects a change of the %s', async (name) => {
  writeFileSync(at('file'), 'one');
  const files = filesOf({ [name]: at('file') }, new FakeClock());
  const before = await files.look();

  writeFileSync(at('file'), 'longer');

  expect(await files.look()).not.toBe(before);
});

it.each([
  ['written again with the same length', () => utimesSync(at('file'), 1, 1)],
  ['replaced by a rename, with the same time and length', () => replaceByEqual()],
  ['removed', () => rmSync(at('file'))],
])('detects a file that was %s', async (_, change) => {
  writeFileSync(at('file'), 'one');
  utimesSync(at('file'), 2, 2);
  const files = filesOf({ tokenFile: at('file') }, new FakeClock());
  const before = await files.look();
  expect(await files.look()).toBe(before);

  change();

  expect(await files.look()).not.toBe(before);
});

function replaceByEqual(): void {
  writeFileSync(at('next'), 'two');
  utimesSync(at('next'), 2, 2);
  renameSync(at('next'), at('file'));
}

it('calls share one check for 50 ms, no longer, even if it has not ended', async () => {
  const clock = new FakeClock();
  writeFileSync(at('file'), 'one');
  const files = filesOf({ tokenFile: at('file') }, clock);
  const first = files.sharedLook();
  expect(files.sharedLook()).toBe(first);
  await first;
  await clock.advance(49);
  expect(files.sharedLook()).toBe(first);

  await clock.advance(1);

  expect(files.sharedLook()).not.toBe(first);
});
