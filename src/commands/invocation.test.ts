import { describe, expect, it } from 'vitest';
import { loadCommand } from './commands.ts';
import { readInvocation } from './invocation.ts';
import { messageOf } from './testing/usageProblem.ts';

describe('the command', () => {
  it.each([
    ['manager by default', [], 'manager', []],
    [
      'manager when a flag comes first, as with PKopel/traffic-operator',
      ['--leader-elect'],
      'manager',
      ['--leader-elect'],
    ],
    ['the first argument', ['cleanup', '--namespace=x'], 'cleanup', ['--namespace=x']],
  ])('is %s', (_why, given, command, args) => {
    expect(readInvocation(given)).toEqual({ kind: 'run', command, args });
  });

  it.each([
    [['--help'], { kind: 'help', command: undefined }],
    [['-h'], { kind: 'help', command: undefined }],
    [['help'], { kind: 'help', command: undefined }],
    [['manager', '-help'], { kind: 'help', command: 'manager' }],
    [['version'], { kind: 'version' }],
    [['--version'], { kind: 'version' }],
  ])('%j requests a text', (args, invocation) => expect(readInvocation(args)).toEqual(invocation));

  it('is rejected if it is unknown', async () => {
    const unknown =
      'unknown command; must be one of manager, cleanup, connectivity-server, connectivity-agent, weights';
    expect(messageOf(() => readInvocation(['manger']))).toBe(`manger: ${unknown}`);
    expect(messageOf(() => readInvocation(['extra']))).toBe(`extra: ${unknown}`);
    await expect(loadCommand('manger')).rejects.toMatchObject({ name: 'UsageError', message: `manger: ${unknown}` });
  });
});
