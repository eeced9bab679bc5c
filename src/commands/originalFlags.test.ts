import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { FlagTable } from '../options/flagTable.ts';
import { readFlags } from '../options/readFlags.ts';
import { connectivityAgent, CONNECTIVITY_AGENT_FLAGS } from './connectivityAgent/command.ts';
import { connectivityServer } from './connectivityServer/command.ts';
import { CONNECTIVITY_SERVER_FLAGS } from './connectivityServer/flags.ts';
import type { Command } from './command.ts';
import { WEIGHTS_FLAGS } from './weights/flags.ts';

/** A flag of an original program: its name, a value, the key and the value here, and the default. */
type Row = readonly [name: string, text: string, key: string, value: unknown, byDefault: unknown];

const endpoint = (port: number): object => ({ host: '0.0.0.0', port });
const url = (text: string): object => expect.objectContaining({ text }) as object;
const LOGGING: readonly Row[] = [
  ['v', '5', 'v', 5, undefined],
  ['logtostderr', 'true', 'logtostderr', true, undefined],
  ['alsologtostderr', 'true', 'alsologtostderr', true, undefined],
  ['stderrthreshold', 'ERROR', 'stderrthreshold', 'ERROR', undefined],
  ['vmodule', 'a=1', 'vmodule', 'a=1', undefined],
  ['log_dir', '/tmp', 'log_dir', '/tmp', undefined],
  ['log_backtrace_at', 'a.go:1', 'log_backtrace_at', 'a.go:1', undefined],
];
const SERVER_FLAGS: readonly Row[] = [
  ['endpoint', '0.0.0.0:9', 'endpoint', endpoint(9), endpoint(8081)],
  // The default of the original is false: see docs/connectivity.md.
  ['kubeproxyinit', 'false', 'kubeproxyinit', false, true],
  ['report-ttl', '30', 'reportTtl', 30, 300],
  ['ping-timeout', '7', 'pingTimeout', 7, 5],
  ['check-interval', '7', 'checkInterval', 7, 10],
  ['etcd-endpoints', 'https://a:2379', 'etcdEndpoints', 'https://a:2379', undefined],
  ['etcd-tree', 'a/b', 'etcdTree', 'a/b', 'netchecker'],
  ['etcd-key', '/k', 'etcdKey', '/k', undefined],
  ['etcd-cert', '/c', 'etcdCert', '/c', undefined],
  ['etcd-ca', '/a', 'etcdCa', '/a', undefined],
  ...LOGGING,
];
const AGENT_FLAGS: readonly Row[] = [
  [
    'serverendpoint',
    'a:1',
    'serverendpoint',
    { host: 'a', port: 1, text: 'a:1' },
    { host: 'netchecker-service', port: 8081, text: 'netchecker-service:8081' },
  ],
  ['probeurls', 'http://a;http://b,c', 'probeurls', [url('http://a'), url('http://b'), url('c')], []],
  ['reportinterval', '30', 'reportinterval', 30, 60],
  ['zeroextenderlength', '7', 'zeroextenderlength', 7, 1500],
  ...LOGGING,
];

const WEIGHTS: readonly Row[] = [
  ['metrics-addr', '0.0.0.0:8080', 'metricsAddr', endpoint(8080), { host: undefined, port: 8080 }],
  ['cluster-name', 'prod01', 'clusterName', 'prod01', undefined],
  // The spec has the defaults of these: an empty text stands for them, as the chart of the original writes it.
  ['aws-region', 'eu-west-2', 'awsRegion', 'eu-west-2', undefined],
  ['binding-domain', 'fake.me.io', 'bindingDomain', 'fake.me.io', undefined],
  ['backend-type', 'dynamoDB', 'backendType', 'dynamodb', 'fake'],
  ['annotation-filter', 'a=b', 'annotationFilter', 'a=b', undefined],
  ['table-name', 'k8s-traffic-controller', 'tableName', 'k8s-traffic-controller', undefined],
  ['aws-health-check-id', 'a-healthy-check-id', 'awsHealthCheckId', 'a-healthy-check-id', undefined],
  ['annotation-prefix', 'a.b', 'annotationPrefix', 'a.b', undefined],
  ['initial-weight', '100', 'initialWeight', 100, 0],
  ['enable-leader-election', 'true', 'enableLeaderElection', true, false],
  ['dev-mode', 'true', 'devMode', true, false],
];

describe.each<[string, FlagTable, readonly Row[]]>([
  ['connectivity-server', CONNECTIVITY_SERVER_FLAGS, SERVER_FLAGS],
  ['connectivity-agent', CONNECTIVITY_AGENT_FLAGS, AGENT_FLAGS],
  ['weights', WEIGHTS_FLAGS, WEIGHTS],
])('%s', (name, flags, rows) => {
  const read = (...args: string[]): Record<string, unknown> => readFlags({ name, flags }, args, {});

  it.each(rows)('has the flag -%s of the original', (flag, text, key, value, byDefault) => {
    expect(read()[key]).toEqual(byDefault);
    const joined = [`-${flag}=${text}`, `--${flag}=${text}`].map((arg) => read(arg));
    // Go's booleans take no separate value.
    const separate = typeof value === 'boolean' ? [] : [`-${flag}`, `--${flag}`].map((arg) => read(arg, text));
    for (const values of [...joined, ...separate]) expect(values[key]).toEqual(value);
  });

  it.each(rows.filter(([, , , value]) => typeof value === 'boolean'))(
    'has the flag -%s without a value',
    (flag, _, key) => {
      for (const dashes of ['-', '--']) expect(read(`${dashes}${flag}`)[key]).toBe(true);
    },
  );
});

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

it.each([{}, { MY_POD_NAME: '' }])('an agent with the environment %j ends with an error, as the original', (env) => {
  const context = { env, logger: pino({ level: 'silent' }), signal: AbortSignal.abort() };
  const run = () => connectivityAgent.prepare([], env).run(context);
  expect(run).toThrow('MY_POD_NAME is not set: must be the name of the pod');
});
