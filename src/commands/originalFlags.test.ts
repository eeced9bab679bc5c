import { describe, expect, it } from 'vitest';
import { connectivityAgent } from './connectivityAgent/command.ts';
import { connectivityServer } from './connectivityServer/command.ts';
import type { Command } from './command.ts';

/** Command lines of the original programs, and of its chart and its examples, with one dash and with two. */
const SERVER: readonly string[][] = [
  ['-v', '5', '-logtostderr', '-kubeproxyinit', '-endpoint', '0.0.0.0:8081'],
  ['-v=5', '-logtostderr=true', '-kubeproxyinit=true', '-endpoint=0.0.0.0:8081'],
  ['-kubeproxyinit', '-report-ttl', '300', '-ping-timeout=5', '-check-interval', '10'],
  ['-kubeproxyinit', '-etcd-endpoints', 'https://198.18.0.1:2379', '-etcd-tree=netchecker'],
  ['-etcd-key', '/etc/client.key', '-etcd-cert', '/etc/client.pem', '-etcd-ca', '/etc/ca.pem'],
  ['-alsologtostderr', '-stderrthreshold=INFO', '-vmodule=a=1', '-log_dir=/tmp', '-log_backtrace_at=a:1'],
];
const AGENT: readonly string[][] = [
  ['-v', '5', '-logtostderr', '-serverendpoint', 'netchecker-service:8081', '-reportinterval', '60'],
  ['-probeurls', 'http://a:80/b;https://c,d:8080/e', '-zeroextenderlength', '1500'],
  ['-probeurls=', '-zeroextenderlength=0'],
];

describe.each<[Command, readonly string[][]]>([
  [connectivityServer, SERVER],
  [connectivityAgent, AGENT],
])('$name', (command, lines) => {
  it.each(lines.map((line) => [line.join(' '), line] as const))('accepts %s', (_, line) => {
    expect(() => command.prepare(line, {})).not.toThrow();
    const twoDashes = line.map((arg) => (arg.startsWith('-') ? `-${arg}` : arg));
    expect(() => command.prepare(twoDashes, {})).not.toThrow();
  });

  it.each([
    [['-v', '5'], 'debug'],
    [['-v=3'], 'info'],
    [['-v=9', '--log-level=trace'], 'trace'],
    [[], 'info'],
  ])('with %j logs from %s on', (line, level) => expect(command.prepare(line, {}).logLevel).toBe(level));
});
