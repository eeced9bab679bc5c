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
  ])('%s is asked at %s', (url, asked) => {
    expect(parseEndpointUrl(url)).toBe(asked);
  });
});

describe('an endpoint that makes no sense', () => {
  it.each([
    ['prometheus:9090', 'http://'],
    ['nonsense', 'no URL'],
    ['http://me:hunter2@prometheus', 'password file'],
    ['http://prometheus?token=hunter2', 'no query'],
  ])('is refused: %s', (url, problem) => {
    expect(() => parseEndpointUrl(url)).toThrow(problem);
    expect(() => parseEndpointUrl(url)).not.toThrow('hunter2');
  });

  it('is refused for headers that are not allowed', () => {
    const endpoint = { url: SERVER, headers: { 'X-Scope-OrgID': 'hunter2\n' + 'Host: x' } };
    expect(() => new EndpointCredentials(endpoint)).toThrow('"X-Scope-OrgID"');
    expect(() => new EndpointCredentials(endpoint)).not.toThrow('hunter2');
  });

  it('is refused with a password and a token', () => {
    const basicAuth = { username: 'me', passwordFile: '/a' };
    expect(() => new EndpointCredentials({ url: SERVER, basicAuth, bearerTokenFile: '/b' })).toThrow(
      'exclude one another',
    );
  });

  it.each([
    ['missing', 'ENOENT'],
    ['empty', 'is empty'],
  ])('is BadConfiguration for a token file that is %s, as long as it is', async (name, problem) => {
    await file('empty', '\n');
    const bearerTokenFile = join(directory, name);
    const credentials = new EndpointCredentials({ url: SERVER, bearerTokenFile });
    await expect(credentials.read()).rejects.toMatchObject({ reason: 'BadConfiguration' });
    await expect(credentials.read()).rejects.toThrow(problem);
    await file(name, 'token');
    expect((await credentials.read()).headers).toEqual({ Authorization: 'Bearer token' });
  });
});

describe('what a request carries', () => {
  it('is read anew when a symbolic link leads elsewhere, as kubelets swap Secrets', async () => {
    await Promise.all([file('old', 'one'), file('new', 'two')]);
    const link = join(directory, 'token');
    await symlink('old', link);
    const credentials = new EndpointCredentials({ url: SERVER, bearerTokenFile: link });
    expect((await credentials.read()).headers).toEqual({ Authorization: 'Bearer one' });
    await symlink('new', `${link}.tmp`);
    await rename(`${link}.tmp`, link);
    expect((await credentials.read()).headers).toEqual({ Authorization: 'Bearer two' });
  });

  it('keeps its connections while the CA file stays, and takes new ones for a new CA', async () => {
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
