import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadKubeConfig } from './kubeConfig.ts';
import { identityOf } from '../runtime/client/credentials.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'token-file-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('a user of a kubeconfig that names a tokenFile', () => {
  const written = async (name: string, users: Record<string, object>): Promise<string> => {
    const [first] = Object.keys(users);
    const config = {
      clusters: [{ name, cluster: { server: 'https://c' } }],
      users: Object.entries(users).map(([user, fields]) => ({ name: user, user: fields })),
      contexts: [{ name, context: { cluster: name, user: first } }],
      'current-context': name,
    };
    await writeFile(join(directory, name), JSON.stringify(config));
    return join(directory, name);
  };
  const authorization = async (kubeConfig: ReturnType<typeof loadKubeConfig>): Promise<unknown> =>
    (await identityOf(kubeConfig)).headers.Authorization;

  beforeAll(() => writeFile(join(directory, 'token'), 'from-the-file\n'));
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['by a path relative to the kubeconfig', 'token', {}],
    ['by an absolute path', () => join(directory, 'token'), {}],
    ['and prefers it to a token in the kubeconfig, like kubectl', 'token', { token: 'other' }],
  ])('reads the token %s', async (_, tokenFile, others) => {
    const path = typeof tokenFile === 'string' ? tokenFile : tokenFile();
    const file = await written('with-token-file', { one: { tokenFile: path, ...others }, two: { token: 'two' } });
    const kubeConfig = loadKubeConfig(file);
    expect(await authorization(kubeConfig)).toBe('Bearer from-the-file');
    expect(kubeConfig.getUser('two')?.token).toBe('two');
  });

  it('reads it if the user is in another file of $KUBECONFIG', async () => {
    const first = await written('first', {});
    const second = await written('second', { one: { tokenFile: 'token' } });
    vi.stubEnv('KUBECONFIG', `${first}:${second}`);
    const kubeConfig = loadKubeConfig(undefined);
    kubeConfig.setCurrentContext('second');
    expect(await authorization(kubeConfig)).toBe('Bearer from-the-file');
  });

  it('reads it from ~/.kube/config', async () => {
    const file = await written('home', { one: { tokenFile: join(directory, 'token') } });
    await mkdir(join(directory, '.kube'));
    await rename(file, join(directory, '.kube/config'));
    vi.stubEnv('KUBECONFIG', undefined);
    vi.stubEnv('HOME', directory);
    expect(await authorization(loadKubeConfig(undefined))).toBe('Bearer from-the-file');
    await rm(join(directory, '.kube'), { recursive: true });
  });
});
