import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helm, helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { binary } from '../lab/binaries.ts';
import { type Cluster, run, startCluster } from './cluster.ts';
import { writeSchemas } from './schemas.ts';

const CHART = fileURLToPath(new URL('../../charts/traffic-operator', import.meta.url));
const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const NAMESPACE = 'network';
const CRD = 'crd/trafficwatches.traffic.example.com';

/** Sets of values that between them reach every branch of the templates. */
const VALUES: Record<string, object> = {
  defaults: {},
  'a Prometheus that exists': {
    prometheus: {
      url: 'https://prometheus.example/prefix',
      username: 'me',
      passwordSecret: { name: 'password' },
      caSecret: { name: 'ca', key: 'tls.crt' },
      headers: { 'X-Scope-OrgID': 'tenant' },
      matchers: ['cluster="x"', 'env=~"a|b"'],
    },
    window: '2m',
    nodeExporter: { enabled: true, port: 9200 },
  },
  'a token and a CA in a ConfigMap': {
    prometheus: { url: 'https://p', bearerTokenSecret: { name: 'token' }, caConfigMap: { name: 'ca' } },
  },
  'as little as can be': {
    replicas: 1,
    crds: { enabled: false },
    rbac: { create: false },
    serviceAccount: { create: false, name: 'mine' },
    metrics: { enabled: false },
    cleanup: { enabled: false },
    podDisruptionBudget: { enabled: false },
    nodeSelector: null,
    topologySpreadConstraints: [],
  },
  'as much as can be': {
    fullnameOverride: 'an-operator-with-a-name-that-is-longer-than-fifty-two-characters',
    image: { digest: `sha256:${'0'.repeat(64)}`, pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'pull' }],
    crds: { keep: false },
    serviceAccount: { annotations: { 'example.com/role': 'x' } },
    metrics: {
      secure: true,
      certSecret: 'tls',
      port: 8443,
      service: { labels: { a: 'b' }, annotations: { 'prometheus.io/scrape': 'true' } },
    },
    commonLabels: { team: 'net' },
    annotations: { a: 'b' },
    podLabels: { c: 'd' },
    podAnnotations: { e: 'f' },
    priorityClassName: 'system-cluster-critical',
    tolerations: [{ operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    extraArgs: ['--log-level=debug'],
    extraEnv: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=200' }],
  },
};

const DONE = { ok: true, text: expect.any(String) as string };

let cluster: Cluster;
let directory: string;
/** Where kubeconform finds the schemas. */
let schemas: string;
const fileOf = (name: string): string => join(directory, `${name.replaceAll(' ', '-')}.yaml`);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chart-'));
  for (const [name, values] of Object.entries(VALUES)) await writeFile(fileOf(name), JSON.stringify(values));
  cluster = await startCluster();
  const get = async (path: string): Promise<string> => (await cluster.kubectl(['get', '--raw', path])).text;
  schemas = await writeSchemas(join(directory, 'schemas'), get);
});
afterAll(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true });
});

describe.each(Object.keys(VALUES))('the chart with %s', (name) => {
  it('passes helm lint', () => {
    expect(helm('lint', '--strict', '--quiet', '--values', fileOf(name))).not.toContain('[WARNING]');
  });

  it('makes objects that the API knows, field by field (kubeconform)', async () => {
    const args = ['-strict', '-summary', '-schema-location', schemas];
    const outcome = await run(await binary('kubeconform'), args, helm('template', 'x', '--values', fileOf(name)));
    expect(outcome).toEqual({
      ok: true,
      text: expect.stringMatching(/Invalid: 0, Errors: 0, Skipped: 0\n$/) as string,
    });
  });

  it('makes pods that may run where Pod Security is restricted', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.kubectl(['apply', '-f-'], {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'restricted', labels },
    });
    for (const object of helmTemplate('--values', fileOf(name), '--set', 'priorityClassName=')) {
      const { template } = (object.spec ?? {}) as { template?: Manifest };
      if (template === undefined) continue;
      const metadata = { ...template.metadata, name: 'p', namespace: 'restricted' };
      const pod = { ...template, apiVersion: 'v1', kind: 'Pod', metadata };
      expect(await cluster.kubectl(['create', '--dry-run=server', '-f-'], pod)).toEqual(DONE);
    }
  });
});

describe('kubeconform with these schemas', () => {
  it('finds a misspelt field and a wrong type, or it would prove nothing', async () => {
    const args = ['-strict', '-schema-location', schemas];
    const service = (spec: object): object => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec });
    const kubeconform = await binary('kubeconform');
    expect((await run(kubeconform, args, service({ ports: [{ port: 1 }] }))).ok).toBe(true);
    expect((await run(kubeconform, args, service({ ports: [{ prot: 1, port: 1 }] }))).text).toContain('prot');
    expect((await run(kubeconform, args, service({ ports: [{ port: 'x' }] }))).text).toContain('port');
  });
});

describe('a release', () => {
  const install = (...args: string[]) =>
    cluster.helm('upgrade', '--install', 'traffic-operator', CHART, '-n', NAMESPACE, '--create-namespace', ...args);
  const exists = async (object: string): Promise<boolean> =>
    (await cluster.kubectl(['-n', NAMESPACE, 'get', object, '-oname'])).ok;

  it('is installed, upgraded, and leaves the CRD and the TrafficWatches behind', async () => {
    const first = await install();
    expect(first.text).toContain('See it work:');
    expect(first.ok).toBe(true);
    await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', CRD]);
    const sample = await cluster.kubectl(['apply', '--validate=strict', '-f', join(DEPLOY, 'samples')]);
    expect(sample).toEqual(DONE);

    expect(await install('--set', 'replicas=3')).toEqual(DONE);
    const replicas = await cluster.kubectl([
      '-n',
      NAMESPACE,
      'get',
      'deploy/traffic-operator',
      '-ojsonpath={.spec.replicas}',
    ]);
    expect(replicas.text).toBe('3');

    // Nothing runs here that could carry out the hook.
    const gone = await cluster.helm('uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    expect(gone).toEqual(DONE);
    expect([await exists('deploy/traffic-operator'), await exists(CRD)]).toEqual([false, true]);
    expect((await cluster.kubectl(['get', 'tw', '-oname'])).text).toContain('trafficwatch');

    expect(await install()).toEqual(DONE);
    await cluster.helm('uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    await cluster.kubectl(['delete', CRD]);
  });

  it('takes over a CRD that is there already when it is told to, and else says why it does not', async () => {
    await cluster.kubectl(['apply', '-f', join(DEPLOY, 'crds')]);
    expect(await install()).toEqual({ ok: false, text: expect.stringContaining('ownership') as string });
    expect(await install('--take-ownership')).toEqual(DONE);
    await cluster.helm('uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    await cluster.kubectl(['delete', CRD]);
  });

  it('takes the CRD along where it is not to be kept', async () => {
    expect(await install('--set', 'crds.keep=false')).toEqual(DONE);
    expect(await exists(CRD)).toBe(true);
    await cluster.helm('uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
    await cluster.kubectl(['wait', '--for=delete', CRD, '--timeout=30s']);
    expect(await exists(CRD)).toBe(false);
  });
});

describe('deploy/', () => {
  it('is applied as it is, and the clean-up beside it', async () => {
    for (const directory of [DEPLOY, join(DEPLOY, 'cleanup')]) {
      expect(await cluster.kubectl(['apply', '--validate=strict', '-k', directory])).toEqual(DONE);
      // Once more: nothing is left to change. kubectl sends a PodDisruptionBudget's selector each time.
      const again = await cluster.kubectl(['apply', '-k', directory]);
      expect(again.text).not.toMatch(/^(?!poddisruptionbudget).* (created|configured)$/m);
    }
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', join(DEPLOY, 'cleanup')])).toMatchObject({
      ok: true,
    });
    expect(await cluster.kubectl(['delete', '--wait=false', '-k', DEPLOY])).toEqual(DONE);
  });
});
