import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { renderPrometheusConfig } from '../../controllers/measurement/components/prometheusConfig.ts';
import { renderAlertingRules } from '../../controllers/measurement/components/rules/alerts.ts';
import { OPERATOR_JOB } from '../../controllers/measurement/names.ts';
import { defaultMeasurementOptions, type MeasurementOptions } from '../../controllers/measurement/options.ts';
import { type ManagerOptions, managerOptions } from './options.ts';
import { measurementOptions, type MeasurementFlags } from '../../controllers/measurement/flags.ts';
import type { SharedFlags } from '../../controllers/contract/flags.ts';
import { CONTROLLERS } from '../../controllers/registry.ts';
import { readFlags } from '../../options/readFlags.ts';
import { loadKubeConfig } from '../kubeConfig.ts';
import { managerFlags } from './command.ts';
import { DEFAULT_EXCLUDED_DEVICES, wholeName } from '../../usage/evaluate/devices/devices.ts';

/** Exists only if the test runs in a pod. */
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount/token';

let directory: string;
let kubeconfig: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'options-'));
  kubeconfig = join(directory, 'config');
  await writeFile(kubeconfig, '{clusters: [{name: c, cluster: {server: "https://c"}}], users: [], contexts: []}');
});
afterAll(() => rm(directory, { recursive: true }));

const MANAGER = managerFlags(CONTROLLERS);

interface Options extends ManagerOptions {
  readonly measurement: MeasurementOptions;
}

/** Options of the manager and of the measurement. */
function options(args: readonly string[], env: Record<string, string> = {}): Options {
  const flags = readFlags(MANAGER, [`--kubeconfig=${kubeconfig}`, ...args], {});
  const measurement = measurementOptions(flags as SharedFlags & MeasurementFlags);
  return { ...managerOptions(flags, env, pino({ level: 'silent' })), measurement };
}

describe('managerOptions', () => {
  it('deploys and queries its own Prometheus and exporters by default', () => {
    const { endpoint, query, measurement } = options(['--namespace=ops', '--scrape-interval=6s']);
    expect(endpoint).toEqual({ url: 'http://prometheus.ops.svc:9090', isNear: true });
    expect(query).toEqual({
      windowSeconds: 24,
      scrapeIntervalSeconds: 6,
      matchers: [],
      excludedDevices: DEFAULT_EXCLUDED_DEVICES,
    });
    expect(measurement).toMatchObject({
      namespace: 'ops',
      exporter: { enabled: true, port: 9100 },
      prometheus: { enabled: true, scrapeIntervalSeconds: 6 },
    });
  });

  it('reads the capacity of nodes from no label unless one is named', () => {
    const label = 'karpenter.k8s.aws/instance-network-bandwidth';
    expect([options([]).capacityLabel, options([`--capacity-label=${label}`]).capacityLabel]).toEqual([
      undefined,
      label,
    ]);
  });

  it('queries an existing Prometheus with a longer window, and deploys nothing', () => {
    const { endpoint, query, measurement } = options([
      '--prometheus-url=https://p/prefix',
      '--prometheus-username=u',
      '--prometheus-password-file=f',
      '--prometheus-ca-file=c',
      '--prometheus-header=X-Scope-OrgID: a',
      '--prometheus-matcher=cluster=x',
      '--device-exclude=lo',
    ]);
    expect(endpoint).toEqual({
      url: 'https://p/prefix',
      basicAuth: { username: 'u', passwordFile: 'f' },
      caFile: 'c',
      headers: { 'X-Scope-OrgID': 'a' },
    });
    expect(query).toEqual({
      windowSeconds: 120,
      matchers: [{ name: 'cluster', op: '=', value: 'x' }],
      excludedDevices: `${DEFAULT_EXCLUDED_DEVICES}|lo`,
    });
    expect([measurement.prometheus.enabled, measurement.exporter.enabled]).toEqual([false, false]);
  });

  it('has a longer window for a Prometheus that a stack uses', () => {
    const { query, otherQuery } = options(['--stacks', '--device-exclude=lo']);
    expect(options(['--scrape-interval=6s']).queryAt(30)).toEqual(options(['--scrape-interval=30s']).query);
    expect(options(['--window=3m']).queryAt(30)).toMatchObject({ windowSeconds: 180, scrapeIntervalSeconds: 30 });
    expect(otherQuery).toEqual({ ...query, windowSeconds: 120, scrapeIntervalSeconds: undefined });
    expect(options(['--window=90s']).otherQuery.windowSeconds).toBe(90);
  });

  it('passes the replica labels on', () => {
    const args = ['--prometheus-url=http://p', '--prometheus-replica-label=replica', '--prometheus-replica-label=prom'];
    expect(options(args).query.replicaLabels).toEqual(['replica', 'prom']);
    expect(options([]).query).not.toHaveProperty('replicaLabels');
  });

  it.each([
    { why: 'four scrapes', args: [], seconds: 20 },
    { why: 'four scrapes of a longer interval', args: ['--scrape-interval=30s'], seconds: 120 },
    { why: 'at least 20 s with a shorter interval', args: ['--scrape-interval=1s'], seconds: 20 },
    { why: 'the value of --window', args: ['--scrape-interval=30s', '--window=5m'], seconds: 300 },
    {
      why: 'two minutes for an existing Prometheus',
      args: ['--prometheus-url=http://p', '--scrape-interval=1m'],
      seconds: 120,
    },
  ])('uses as window $why: $args', ({ args, seconds }) => expect(options(args).query.windowSeconds).toBe(seconds));

  it.each([
    { args: ['--device-exclude=ib.*'], out: ['ib0', 'veth1a2b3c4', 'cali12345678901'], counted: ['eth0'] },
    { args: ['--device-exclude=ib.*|p2.*'], out: ['ib0', 'p2p1', 'docker0'], counted: ['eth0', 'xib0'] },
    { args: ['--device-exclude-default=ib.*'], out: ['ib0'], counted: ['eth0', 'docker0'] },
    { args: ['--device-exclude-default=^$'], out: [], counted: ['eth0', 'docker0'] },
    {
      args: ['--device-exclude-default=ib.*', '--device-exclude=eno2'],
      out: ['ib0', 'eno2'],
      counted: ['eno1', 'eno22', 'docker0'],
    },
  ])('adds to the excluded devices, or replaces the default: $args', ({ args, out, counted }) => {
    const excluded = wholeName(options(args).query.excludedDevices!);
    expect([...out, ...counted].filter((name) => excluded.test(name))).toEqual(out);
  });

  it('passes --window and --node-exporter on', () => {
    const { query, measurement } = options(['--prometheus-url=http://p', '--window=90s', '--node-exporter']);
    expect(query.windowSeconds).toBe(90);
    expect([measurement.prometheus.enabled, measurement.exporter.enabled]).toEqual([false, true]);
    expect(options(['--node-exporter=false']).measurement.exporter.enabled).toBe(false);
  });

  it('passes the flags for the pods of the measurement on, and keeps the other defaults', () => {
    const { exporter, prometheus } = options([
      '--node-exporter-priority-class=system-node-critical',
      '--node-exporter-ignored-devices=tap.*|vif[0-9]+',
      '--prometheus-priority-class=high',
    ]).measurement;
    expect(exporter).toMatchObject({
      priorityClassName: 'system-node-critical',
      ignoredDevices: '^(?:tap.*|vif[0-9]+)$',
    });
    expect(prometheus.priorityClassName).toBe('high');
    expect(options([]).measurement).toEqual({
      ...defaultMeasurementOptions('traffic-operator-system'),
      operatorMetrics: false,
      hasDefaultStack: true,
    });
  });

  it('passes the resources of Prometheus and the exporter on, and the storage of samples', () => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'edge', operator: 'DoesNotExist' }] }];
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
    const { exporter, prometheus, imagePullSecrets } = options([
      '--prometheus-resources={"limits":{"memory":"4Gi","cpu":2}}',
      '--prometheus-node-selector=pool=infra',
      '--prometheus-node-selector=example.com/empty=',
      '--prometheus-tolerations=[{"key":"infra","operator":"Exists"}]',
      '--prometheus-retention=15d',
      '--prometheus-storage-size=10Gi',
      '--prometheus-storage-class=fast',
      '--node-exporter-resources={}',
      '--node-exporter-node-selector=pool=web',
      `--node-exporter-affinity=${JSON.stringify(affinity)}`,
      '--image-pull-secret=a',
      '--image-pull-secret=b',
    ]).measurement;
    expect(prometheus).toMatchObject({
      resources: { limits: { memory: '4Gi', cpu: '2' } },
      nodeSelector: { pool: 'infra', 'example.com/empty': '' },
      tolerations: [{ key: 'infra', operator: 'Exists' }],
      retentionTime: '15d',
      retentionSize: '5120MB',
      volume: { kind: 'claim', size: '10Gi', storageClassName: 'fast' },
    });
    expect([exporter.resources, imagePullSecrets]).toEqual([{}, ['a', 'b']]);
    expect(exporter).toMatchObject({ nodeSelector: { pool: 'web' }, affinity });
    const other = options(['--prometheus-existing-claim=mine', '--prometheus-retention-size=8GB']).measurement;
    expect(other.prometheus).toMatchObject({
      retentionSize: '8GB',
      volume: { kind: 'existing', claimName: 'mine' },
    });
  });

  it.each([
    { why: 'without authorization', args: ['--metrics-bind-address=:8080'], scraped: true },
    { why: 'metrics are off', args: [], scraped: false },
    {
      why: 'with a token, which Prometheus does not have',
      args: ['--metrics-bind-address=:8443', '--metrics-secure', '--metrics-cert-path=/tls'],
      scraped: false,
    },
  ])("decides whether the operator's own metrics are scraped, with alerts: $why", ({ args, scraped }) => {
    const { measurement } = options(args);
    expect(renderPrometheusConfig(measurement).includes(`job_name: ${OPERATOR_JOB}\n`)).toBe(scraped);
    const alerts = [...renderAlertingRules(measurement).matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    expect(alerts.includes('TrafficOperatorAbsent')).toBe(scraped);
    // The measurement does not need the metrics of the operator.
    expect(alerts).toContain('NodeExporterDown');
  });

  it.each([
    [[], undefined],
    [['--metrics-bind-address=:8080'], { address: { port: 8080 }, secure: undefined }],
    [
      ['--metrics-bind-address=:8443', '--metrics-secure', '--metrics-cert-path=/tls', '--enable-http2'],
      { address: { port: 8443 }, secure: { certPath: '/tls', http2: true } },
    ],
  ])('serves metrics as the flags say: %j', (args, server) => expect(options(args).metricsServer).toEqual(server));

  it('reads the name of its pod from $POD_NAME', () => {
    expect(options([], { POD_NAME: 'operator-1' }).podName).toBe('operator-1');
    expect(options([], { POD_NAME: '' }).podName).toBeUndefined();
  });
});

describe('loadKubeConfig', () => {
  it.each([
    ['does not exist', 'absent', undefined],
    ['is not a kubeconfig', 'bad', ': ['],
  ])('names the file that %s, in one line', async (_why, name, text) => {
    const file = join(directory, name);
    if (text !== undefined) await writeFile(file, text);
    expect(() => loadKubeConfig(file)).toThrow(new RegExp(`^--kubeconfig=${file}: cannot be used: [^\n]+$`));
  });

  it('gives the position of a YAML error without quoting the file', async () => {
    const file = join(directory, 'secret');
    await writeFile(file, 'users:\n- user:\n    token: secret\n   bad: 1\n');
    const problem = `--kubeconfig=${file}: cannot be used: invalid YAML at line 4, column 4`;
    expect(() => loadKubeConfig(file)).toThrow(
      expect.toSatisfy(({ message, cause }: Error) => message === problem && cause === undefined),
    );
  });

  describe('without a file', () => {
    beforeEach(() => vi.stubEnv('HOME', directory));
    afterEach(() => vi.unstubAllEnvs());

    it.skipIf(existsSync(SERVICE_ACCOUNT))('fails without any configuration, and does not guess a server', () => {
      vi.stubEnv('KUBECONFIG', undefined);
      expect(() => loadKubeConfig(undefined)).toThrow(
        /^no connection to the API server: \$KUBECONFIG is not set, .*; set --kubeconfig=FILE$/,
      );
    });

    it('names the variable of a file that cannot be used', () => {
      vi.stubEnv('KUBECONFIG', join(directory, 'nowhere'));
      expect(() => loadKubeConfig(undefined)).toThrow(/^\$KUBECONFIG or ~\/\.kube\/config: cannot be used: .*nowhere/);
    });

    it('accepts a kubeconfig whose server is the default of client-node', async () => {
      const proxy = {
        clusters: [{ name: 'proxy', cluster: { server: 'http://localhost:8080' } }],
        users: [{ name: 'nobody', user: {} }],
        contexts: [{ name: 'proxy', context: { cluster: 'proxy', user: 'nobody' } }],
        'current-context': 'proxy',
      };
      await writeFile(join(directory, 'proxy'), JSON.stringify(proxy));
      vi.stubEnv('KUBECONFIG', join(directory, 'proxy'));
      expect(loadKubeConfig(undefined).getCurrentCluster()?.server).toBe('http://localhost:8080');
    });
  });
});
