import { describe, expect, it } from 'vitest';
import { commandHelp, programHelp } from '../invocation.ts';
import type { SharedFlags } from '../../controllers/contract/flags.ts';
import type { MeasurementFlags } from '../../controllers/measurement/flags.ts';
import { CONTROLLERS } from '../../controllers/registry.ts';
import { flagName, joinTables, variableName, type Flag } from '../../options/flagTable.ts';
import { readFlags } from '../../options/readFlags.ts';
import { cleanup } from '../cleanup/command.ts';
import { messageOf } from '../testing/usageProblem.ts';
import { managerFlags } from './command.ts';
import { POD_INTERFACES } from '../../controllers/measurement/options.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../../usage/evaluate/devices/devices.ts';

const MANAGER = managerFlags(CONTROLLERS);
type Flags = SharedFlags & MeasurementFlags;

function read(args: readonly string[], env: Record<string, string> = {}): Flags {
  return readFlags(MANAGER, args, env) as Flags;
}

const problem = (args: readonly string[], env: Record<string, string> = {}): string => messageOf(() => read(args, env));

describe('flags', () => {
  it('have their defaults', () => {
    expect(read([])).toMatchObject({
      namespace: 'traffic-operator-system',
      leaderElect: false,
      metricsBindAddress: 'off',
      metricsSecure: false,
      enableHttp2: false,
      healthProbeBindAddress: { port: 8081 },
      logLevel: 'info',
      interval: 10_000,
      window: undefined,
      scrapeInterval: 5_000,
      prometheusUrl: undefined,
      prometheusHeader: [],
      nodeExporter: undefined,
      nodeExporterPort: 9100,
    });
  });

  it.each([
    ['two dashes and =', ['--interval=30s'], { interval: 30_000 }],
    ['two dashes and a blank', ['--interval', '30s'], { interval: 30_000 }],
    ['one dash and =', ['-interval=30s'], { interval: 30_000 }],
    ['one dash and a blank', ['-interval', '30s'], { interval: 30_000 }],
    ['a boolean without a value', ['--leader-elect'], { leaderElect: true }],
    ['a boolean without a value, one dash', ['-leader-elect'], { leaderElect: true }],
    ['a boolean with =', ['--leader-elect=false'], { leaderElect: false }],
    ['a boolean as Go writes it', ['--leader-elect=T'], { leaderElect: true }],
    ['a boolean before another flag', ['--leader-elect', '--interval=2s'], { leaderElect: true, interval: 2000 }],
    ['the last of several values', ['--interval=1s', '--interval=2s'], { interval: 2_000 }],
    ['a value with = in it', ['--device-exclude=a=b'], { deviceExclude: 'a=b' }],
    ['a value that begins with a dash', ['--device-exclude', '-x.*'], { deviceExclude: '-x.*' }],
    ['a compound duration', ['--interval=1m30.5s'], { interval: 90_500 }],
    ['an address', ['--metrics-bind-address=[::1]:8080'], { metricsBindAddress: { host: '::1', port: 8080 } }],
    ['an empty text as absent, for an optional flag', ['--prometheus-url='], { prometheusUrl: undefined }],
    ['false, which differs from absent', ['--node-exporter=false'], { nodeExporter: false }],
  ])('accept %s', (_why, args, flags) => expect(read(args)).toMatchObject(flags));

  it('accept several headers and matchers, in each notation', () => {
    const url = '--prometheus-url=http://p:9090/prefix';
    const args = ['--prometheus-header', 'X-Scope-OrgID: a|b', '--prometheus-header=X-Other=c: d'];
    const matchers = ['cluster=x', 'env="a\\"b"', "tier=~'a|b'", 'zone!=y', 'empty=', '"k8s.cluster.name"="x"'];
    const flags = read([url, ...args, ...matchers.map((matcher) => `--prometheus-matcher=${matcher}`)]);
    expect(flags.prometheusHeader).toEqual([
      { name: 'X-Scope-OrgID', value: 'a|b' },
      { name: 'X-Other', value: 'c: d' },
    ]);
    expect(flags.prometheusMatcher).toEqual([
      { name: 'cluster', op: '=', value: 'x' },
      { name: 'env', op: '=', value: 'a"b' },
      { name: 'tier', op: '=~', value: 'a|b' },
      { name: 'zone', op: '!=', value: 'y' },
      { name: 'empty', op: '=', value: '' },
      { name: 'k8s.cluster.name', op: '=', value: 'x' },
    ]);
  });
});

describe('environment variables', () => {
  it('set flags, and the command line takes precedence', () => {
    const env = { TRAFFIC_OPERATOR_INTERVAL: '30s', TRAFFIC_OPERATOR_LEADER_ELECT: 'true' };
    expect(read([], env)).toMatchObject({ interval: 30_000, leaderElect: true });
    expect(read(['--interval=5s'], env)).toMatchObject({ interval: 5_000, leaderElect: true });
  });

  it('have one list value per line, and count as absent if empty', () => {
    const env = {
      TRAFFIC_OPERATOR_PROMETHEUS_URL: 'http://p',
      TRAFFIC_OPERATOR_PROMETHEUS_MATCHER: 'a=b\n\n c=d \n',
      TRAFFIC_OPERATOR_INTERVAL: '',
    };
    expect(read([], env).prometheusMatcher.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(read([], env).interval).toBe(10_000);
  });

  it('of a Service named traffic-operator are ignored', () => {
    expect(read([], { TRAFFIC_OPERATOR_SERVICE_HOST: '10.0.0.1', TRAFFIC_OPERATOR_PORT: 'tcp://x' })).toBeDefined();
  });
});

describe('a wrong flag', () => {
  const url = '--prometheus-url=https://p';

  it.each([
    [['--intervall=1s'], '--intervall: unknown flag; `manager --help` lists all flags'],
    [['--deployment=x'], '--deployment: unknown flag; `manager --help` lists all flags'],
    [['extra'], 'extra: unexpected argument; manager accepts only flags'],
    [['--interval'], '--interval: needs a value; must be a duration such as 10s, 2m or 1m30s, 1s at least'],
    [['--interval=10'], '--interval=10: must be a duration such as 10s, 2m or 1m30s, 1s at least'],
    [['--interval=500ms'], '--interval=500ms: must be a duration such as 10s, 2m or 1m30s, 1s at least'],
    [
      ['--window=1m0.5s'],
      '--window=1m0.5s: must be a duration of whole seconds such as 10s, 2m or 1m30s, from 1s to 24h',
    ],
    [
      ['--scrape-interval=1500ms'],
      '--scrape-interval=1500ms: must be a duration of whole seconds such as 10s, 2m or 1m30s, from 1s to 24h',
    ],
    [['--leader-elect=yes'], '--leader-elect=yes: must be true or false'],
    [
      ['--namespace='],
      '--namespace=: must be a DNS label: up to 63 lower-case letters, digits and hyphens, the first and last no hyphen',
    ],
    [['--log-level=loud'], '--log-level=loud: must be one of trace, debug, info, warn, error, fatal, silent'],
    [['--node-exporter-port=70000'], '--node-exporter-port=70000: must be a TCP port from 1 to 65535'],
    [
      ['--metrics-bind-address=8080'],
      '--metrics-bind-address=8080: must be 0 (off), :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080',
    ],
    [
      ['--prometheus-url=p:9090'],
      '--prometheus-url=p:9090: must be an http or https URL without user, query and fragment',
    ],
    [
      ['--prometheus-url=http://u:p@h'],
      '--prometheus-url=http://[redacted]@h: must be an http or https URL without user, query and fragment',
    ],
    [
      [url, '--prometheus-header=X', '--prometheus-header=A: b'],
      "--prometheus-header=[redacted]: must be a header such as 'X-Scope-OrgID: team-a', its value in Latin-1 and without control characters",
    ],
    [
      [url, '--prometheus-matcher=a~b'],
      `--prometheus-matcher=a~b: must be a label matcher such as cluster=x, env=~'prod|stage' or "k8s.cluster.name"=x`,
    ],
    [
      ['--device-exclude=('],
      '--device-exclude=(: must be a regular expression that RE2 and JavaScript read alike, such as veth.*|cni[0-9]+',
    ],
    [
      ['--prometheus-matcher=a=b'],
      '--prometheus-matcher=a=b: needs --prometheus-url: it does not apply to the deployed Prometheus',
    ],
    [
      ['--prometheus-replica-label=r'],
      '--prometheus-replica-label=r: needs --prometheus-url: it does not apply to the deployed Prometheus',
    ],
    [
      [url, '--prometheus-replica-label=device'],
      '--prometheus-replica-label=device: must be the name of a label, such as replica or prometheus_replica, and none of __name__, node, instance, device, driver',
    ],
    [
      [url, '--prometheus-replica-label=a-b'],
      '--prometheus-replica-label=a-b: must be the name of a label, such as replica or prometheus_replica, and none of __name__, node, instance, device, driver',
    ],
    [[url, '--prometheus-username=u'], '--prometheus-username=u: needs --prometheus-password-file'],
    [[url, '--prometheus-password-file=f'], '--prometheus-password-file=f: needs --prometheus-username'],
    [
      [url, '--prometheus-username=u', '--prometheus-password-file=f', '--prometheus-bearer-token-file=t'],
      '--prometheus-bearer-token-file=t: must not be combined with --prometheus-username: one way to log in',
    ],
    [
      ['--prometheus-url=http://p', '--prometheus-ca-file=f'],
      '--prometheus-ca-file=f: needs an https URL, and --prometheus-url is http://p',
    ],
    [
      ['--metrics-secure', '--metrics-bind-address=:8443'],
      '--metrics-secure=true: needs --metrics-cert-path, a directory with tls.crt and tls.key',
    ],
    [['--window=19s'], '--window=19s: must be 20s at least, four scrapes: --scrape-interval is 5s'],
    [
      ['--window=20s', '--scrape-interval=30s'],
      '--window=20s: must be 120s at least, four scrapes: --scrape-interval is 30s',
    ],
    [
      ['--scrape-interval=121s'],
      '--scrape-interval=121s: must be 2m at most: Prometheus drops a series 5m after its last sample, and one lost scrape must not end it',
    ],
    [['--prometheus-storage-class=fast'], '--prometheus-storage-class=fast: needs --prometheus-storage-size'],
    [
      ['--prometheus-existing-claim=c', '--prometheus-storage-size=2Gi'],
      '--prometheus-existing-claim=c: must not be combined with --prometheus-storage-size: one volume, one claim',
    ],
    [['--prometheus-retention=2h', '--window=3h'], '--window=3h: must be 2h at most, which is --prometheus-retention'],
    [
      [`--namespace=${'n'.repeat(50)}`],
      `--namespace=${'n'.repeat(50)}: must have 49 characters at most, for <namespace>-node-exporter`,
    ],
  ])('%j is reported in one line', (args, message) => {
    expect(problem(args)).toBe(message);
    expect(message).not.toContain('\n');
  });

  it('is reported with the name of its variable if it comes from the environment', () => {
    expect(problem([], { TRAFFIC_OPERATOR_INTERVAL: 'soon' })).toMatch(/^TRAFFIC_OPERATOR_INTERVAL=soon: must be/);
  });

  it('is not reported for valid combinations', () => {
    read([url, '--prometheus-username=u', '--prometheus-password-file=f', '--prometheus-ca-file=c', '--window=5s']);
    read(['--metrics-secure', '--enable-http2']);
    read(['--metrics-secure', '--metrics-bind-address=0']);
    read([], { TRAFFIC_OPERATOR_METRICS_SECURE: 'true', TRAFFIC_OPERATOR_METRICS_BIND_ADDRESS: '0' });
    read([url, `--namespace=${'n'.repeat(63)}`]);
    read(['--scrape-interval=2m', '--window=8m']);
    read([url, '--scrape-interval=5m']);
  });
});

describe('the flag table', () => {
  const KEYS = Object.keys(MANAGER.flags);

  it('contains the flags of PKopel/traffic-operator', () => {
    const names = KEYS.map(flagName);
    expect(names).toEqual(expect.arrayContaining(['metrics-bind-address', 'health-probe-bind-address', 'namespace']));
    expect(names).toEqual(expect.arrayContaining(['leader-elect', 'metrics-secure', 'enable-http2']));
  });

  it('describes every flag in sentences, and its defaults are valid', () => {
    for (const [key, flag] of [...Object.entries(MANAGER.flags), ...Object.entries(cleanup.flags)]) {
      const { description, default: standard, type } = flag as Flag;
      expect(description, key).toMatch(/^[A-Z].*\.$/);
      if (standard !== undefined) expect(type.schema.safeParse(standard).success, key).toBe(true);
    }
  });

  it('is the source of --help', () => {
    const help = commandHelp('manager', MANAGER.flags);
    for (const key of KEYS) expect(help).toContain(`--${flagName(key)} <`);
    expect(help).toContain('Default: four times --scrape-interval, at least 20s; 2m with --prometheus-url');
    expect(commandHelp('cleanup', cleanup.flags)).not.toContain('--interval');
    expect(programHelp()).toContain('cleanup');
  });

  it('prints the default of the excluded devices and of the devices that the exporter ignores', () => {
    const help = commandHelp('manager', MANAGER.flags);
    expect(help).toContain(`Default: ${DEFAULT_EXCLUDED_DEVICES}`);
    expect(help).toContain(`Default: ${POD_INTERFACES}`);
  });

  it('derives the names of variables, and rejects duplicate flags', () => {
    expect(variableName('enableHttp2')).toBe('TRAFFIC_OPERATOR_ENABLE_HTTP2');
    expect(() => joinTables(MANAGER.flags, { enableHttp2: MANAGER.flags.enableHttp2 })).toThrow('--enable-http2');
  });
});
