import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthority } from '../../runtime/testing/certificates.ts';
import { readServerCa } from './serverCa.ts';

const [first, second] = [createAuthority('first'), createAuthority('second')];
let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-server-ca-'));
  file = join(directory, 'ca.crt');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function read(content: string): Promise<unknown> {
  await writeFile(file, content);
  const found = await readServerCa(file, 'server-tls');
  return 'problem' in found ? found.problem : found.ca;
}

it('takes each certificate of the file', async () => {
  expect(await read(`${first.cert}# the old one\n${second.cert}`)).toBe(`${first.cert}${second.cert}`);
});

it('takes no key: agents in another namespace read what it returns', async () => {
  expect(await read(`${first.key}${first.cert}`)).toBe(first.cert);
});

it.each([
  ['no certificate', 'broken', 'it has no certificate in PEM'],
  ['only a key', first.key, 'it has no certificate in PEM'],
  ['a broken certificate', first.cert.replace(/\nM.{20}/, '\nAAAAAAAAAAAAAAAAAAAAA'), ''],
])('refuses a file with %s, and says why', async (_what, content, why) => {
  expect(await read(content)).toMatchObject({
    reason: 'ServerCaUnusable',
    object: 'Secret server-tls',
    message: expect.stringContaining(`ca.crt cannot be used (${file}: ${why}`) as string,
  });
});

it('says that there is no file', async () => {
  const found = await readServerCa(join(directory, 'none'), 'server-tls');
  expect(found).toMatchObject({
    problem: { message: expect.stringMatching(/none: ENOENT\); put the CA of tls.crt there/) as string },
  });
});
