import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EndpointCredentials, parseEndpointUrl } from './endpoint.ts';

const SERVER = 'http://prometheus.example.com:9090';
let directory: string;

beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'usage-'))));
afterEach(() => rm(directory, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe('the URL of an endpoint', () => {
  it.each([
    ['http://prometheus:9090', 'http://prometheus:9090'],
    ['https://example.com/team/prometheus//', 'https://example.com/team/prometheus'],
    ['http://[fd00::1]:9090/', 'http://[fd00::1]:9090'],
  ])('%s becomes %s', (url, asked) => {
    expect(parseEndpointUrl(url)).toBe(asked);
  });
});

describe('an invalid endpoint', () => {
  it.each([
    ['prometheus:9090', 'http://'],
    ['nonsense', 'must be a URL'],
    ['http://me:hunter2@prometheus', 'password file'],
    ['http://prometheus?token=hunter2', 'no query'],
  ])('is rejected: %s', (url, problem) => {
    expect(() => parseEndpointUrl(url)).toThrow(problem);
    expect(() => parseEndpointUrl(url)).not.toThrow('hunter2');
  });

  it('is rejected for invalid headers', () => {
    const endpoint = { url: SERVER, headers: { 'X-Scope-OrgID': 'hunter2\n' + 'Host: x' } };
    expect(() => new EndpointCredentials(endpoint)).toThrow('"X-Scope-OrgID"');
    expect(() => new EndpointCredentials(endpoint)).not.toThrow('hunter2');
  });

  it('is rejected with a password file and a token file', () => {
    const basicAuth = { username: 'me', passwordFile: '/a' };
    expect(() => new EndpointCredentials({ url: SERVER, basicAuth, bearerTokenFile: '/b' })).toThrow(
      'set either a password file or a token file, not both',
    );
  });

  it.each([
    ['missing', 'ENOENT'],
    ['empty', 'is empty'],
  ])('is BadConfiguration while the token file is %s', async (name, problem) => {
    await file('empty', '\n');
    const bearerTokenFile = join(directory, name);
    const credentials = new EndpointCredentials({ url: SERVER, bearerTokenFile });
    await expect(credentials.read()).rejects.toMatchObject({ reason: 'BadConfiguration' });
    await expect(credentials.read()).rejects.toThrow(problem);
    await file(name, 'token');
    expect((await credentials.read()).headers).toEqual({ Authorization: 'Bearer token' });
  });
});

describe('the credentials of a request', () => {
  it('are read again when a symbolic link changes, as when the kubelet updates a Secret', async () => {
    await Promise.all([file('old', 'one'), file('new', 'two')]);
    const link = join(directory, 'token');
    await symlink('old', link);
    const credentials = new EndpointCredentials({ url: SERVER, bearerTokenFile: link });
    expect((await credentials.read()).headers).toEqual({ Authorization: 'Bearer one' });
    await symlink('new', `${link}.tmp`);
    await rename(`${link}.tmp`, link);
    expect((await credentials.read()).headers).toEqual({ Authorization: 'Bearer two' });
  });

  it('keep their connections while the CA file is unchanged, and use new ones for a new CA', async () => {
    const caFile = await file('ca', 'one');
    const credentials = new EndpointCredentials({ url: SERVER, caFile });
    const { httpsAgent } = await credentials.read();
    expect((await credentials.read()).httpsAgent).toBe(httpsAgent);
    await file('ca', 'another');
    const { httpsAgent: next } = await credentials.read();
    expect(next).not.toBe(httpsAgent);
    expect(next.options.ca).toBe('another');
  });
});
