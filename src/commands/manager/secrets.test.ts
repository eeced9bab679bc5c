import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadKubeConfig } from '../kubeConfig.ts';
import { messageOf } from '../testing/usageProblem.ts';
import { manager } from './command.ts';

/** A fault at the start is reported without the secret in it, and with its place. */
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-secrets-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('a flag', () => {
  it.each<{ why: string; args: string[]; named: string }>([
    {
      why: 'user and password in a URL',
      args: ['--prometheus-url=http://u:SECRET@p:9090'],
      named: '--prometheus-url=',
    },
    {
      why: 'a password with a slash',
      args: ['--prometheus-url=http://u:SEC/SECRET@p:9090'],
      named: '--prometheus-url=',
    },
    { why: 'a token as the user', args: ['--prometheus-url=https://SECRET@p'], named: '--prometheus-url=' },
    { why: 'a password alone', args: ['--prometheus-url=https://:SECRET@p'], named: '--prometheus-url=' },
    {
      why: 'a header that HTTP does not allow',
      args: ['--prometheus-header=X-Key: SECRET\u20ac'],
      named: '--prometheus-header=X-Key',
    },
    { why: 'no header at all', args: ['--prometheus-header=SECRET'], named: '--prometheus-header=' },
    { why: 'a header without a URL', args: ['--prometheus-header=X-Key: SECRET'], named: '--prometheus-header=X-Key' },
    { why: 'a flag that does not exist', args: ['--prometheus-password=SECRET'], named: '--prometheus-password' },
  ])('with $why', ({ args, named }) => {
    const message = messageOf(() => manager.prepare(args, {}));
    expect(message).toContain(named);
    expect(message).not.toContain('SECRET');
  });

  it('in a variable', () => {
    const env = { TRAFFIC_OPERATOR_PROMETHEUS_HEADER: 'X-Key: SECRET' };
    const message = messageOf(() => manager.prepare([], env));
    expect(message).toContain('TRAFFIC_OPERATOR_PROMETHEUS_HEADER=X-Key');
    expect(message).not.toContain('SECRET');
  });
});

describe('a kubeconfig', () => {
  it.each([
    { why: 'broken YAML', text: 'users:\n- name: x\n  user:\n    token: SECRET\n   bad: 1\n' },
    { why: 'a token that looks like an alias', text: 'users: [{name: x, user: {token: *SECRET}}]' },
    { why: 'a token that looks like a tag', text: 'users: [{name: x, user: {token: !SECRET x}}]' },
  ])('with $why', async ({ text }) => {
    const file = join(directory, 'broken');
    await writeFile(file, text);
    const message = messageOf(() => loadKubeConfig(file));
    expect(message).toContain(`--kubeconfig=${file}`);
    expect(message).not.toContain('SECRET');
  });
});
