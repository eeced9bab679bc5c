import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readTextFile } from './textFile.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'traffic-text-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('reads UTF-8', async () => {
  const file = join(directory, 'file');
  writeFileSync(file, 'grün\n');
  expect(await readTextFile(file)).toBe('grün\n');
});

it('throws the error of the system', async () => {
  await expect(readTextFile(join(directory, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
});
