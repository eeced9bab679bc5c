import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ownDirectory } from './ownDirectory.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'own-'));
});
afterEach(() => rmSync(root, { recursive: true }));

it('removes what processes that have ended left, and nothing else', async () => {
  const { pid: ended } = spawnSync('true');
  const kept = [
    `level-${process.ppid}-x`,
    `level-${process.pid}-x`,
    `other-${ended}-x`,
    `level-x${ended}-x`,
    'level-x',
  ];
  for (const name of [...kept, `level-${ended}-x`, `level-${ended}-y`]) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'file'), '');
  }
  const directory = basename(await ownDirectory('level', root));
  expect(directory).toMatch(new RegExp(`^level-${process.pid}-\\w{6}$`));
  expect(readdirSync(root).sort()).toEqual([...kept, directory].sort());
});
