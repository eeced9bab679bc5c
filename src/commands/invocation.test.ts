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
      'unknown command; must be one of manager, cleanup, connectivity-server, connectivity-agent, trafficweights, weights, placement-webhook';
    expect(messageOf(() => readInvocation(['manger']))).toBe(`manger: ${unknown}`);
    expect(messageOf(() => readInvocation(['extra']))).toBe(`extra: ${unknown}`);
    await expect(loadCommand('manger')).rejects.toMatchObject({ name: 'UsageError', message: `manger: ${unknown}` });
  });
});

describe('the arguments of a command', () => {
  it.each([
    ['manager', ['--interval=soon'], '--interval=soon: must be a duration such as 10s, 2m or 1m30s, 1s at least'],
    [
      'connectivity-agent',
      ['--allow-target-cidr=169.254.20.10/16'],
      '--allow-target-cidr=169.254.20.10/16: must be a range of IP addresses without bits beyond its prefix, such as 169.254.20.10/32',
    ],
    [
      'manager',
      ['--connectivity-allow-target-cidr=localhost'],
      '--connectivity-allow-target-cidr=localhost: must be a range of IP addresses',
    ],
    ['manager', ['--leader-elekt'], '--leader-elekt: unknown flag; `manager --help` lists all flags'],
    [
      'connectivity-server',
      ['-kubeproxyinit=false'],
      '--kubeproxyinit=false: reports are then stored in etcd, so --etcd-endpoints must be given',
    ],
    ['connectivity-server', ['-report-ttl', '1'], '--report-ttl=1: must be a whole number from 2 to 86400'],
    ['connectivity-agent', ['-serverendpoint', 'server'], '--serverendpoint=server: must be a host and a port'],
    ['connectivity-agent', ['-probeurls=ftp://a'], '--probeurls=ftp://a: must be up to 50 URLs of http or https'],
    [
      'manager',
      ['--prometheus-url=http://u:secret@p'],
      '--prometheus-url=http://[redacted]@p: must be an http or https',
    ],
  ])('of %s, %j, are one line that says what is allowed', async (name, args, message) => {
    const command = await loadCommand(name);
    const told = messageOf(() => command.prepare(args, {}));
    expect(told.split('\n')).toEqual([expect.stringContaining(message)]);
  });
});
