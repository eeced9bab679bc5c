import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { helmTemplate, manifestsIn, type Manifest } from '../../scripts/chart/helm.ts';
import type { Outcome } from '../harness/execute.ts';
import { securityContextConstraintsCrd } from '../harness/openshift.ts';
import { binary } from '../lab/binaries.ts';
import { CHART, type Cluster, type Helm, HELMS, run, startCluster } from './cluster.ts';
import { olderReleases, typesOfServer, writeSchemas } from './schemas.ts';
import { VALUE_SETS } from './valueSets.ts';

/**
 * Checks the manifests that the chart renders with each set of values: lint by both helms, every field known to the last three minors of
 * Kubernetes, to the CRDs of the Prometheus operator (testdata/, from its release) and to OpenShift's, pods within Pod
 * Security.
 */
const BUILT_IN = /^(api\/v1|apis\/(?!monitoring|security).+\/v[^/]+)$/;
const CUSTOM = /^apis\/(monitoring\.coreos\.com|security\.openshift\.io)\/v1$/;
const TESTDATA = fileURLToPath(new URL('testdata', import.meta.url));
const DONE = { ok: true, text: expect.any(String) as string };
const NO_PROBLEM = { ok: true, text: expect.stringMatching(/Invalid: 0, Errors: 0, Skipped: 0\n$/) as string };
const WAIT = { timeout: 120_000, interval: 300 };
const WRONG_MONITOR = { selector: {}, endpoints: [{ prot: 'metrics' }] };
const NEWEST = 'of the API server';
const older = await olderReleases();
const RELEASES = [...older.map(({ kubernetes }) => kubernetes), NEWEST];

let cluster: Cluster;
let directory: string;
/** Where kubeconform finds the schemas, by the release of Kubernetes; the newest has the schemas of the API server. */
const schemas: Record<string, string> = {};
const fileOf = (name: string): string => join(directory, `${name.replaceAll(' ', '-')}.yaml`);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chart-'));
  for (const [name, values] of Object.entries(VALUE_SETS)) await writeFile(fileOf(name), JSON.stringify(values));
  cluster = await startCluster();
  for (const plural of ['servicemonitors', 'prometheusrules'])
    await cluster.kubectl(['create', '-f', join(TESTDATA, `monitoring.coreos.com_${plural}.yaml`)]);
  await cluster.kubectl(['create', '-f-'], await securityContextConstraintsCrd());
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const restricted = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'restricted', labels } };
  expect(await cluster.kubectl(['create', '-f-'], restricted)).toEqual(DONE);
  const get = async (path: string): Promise<string> => (await cluster.kubectl(['get', '--raw', path])).text;
  // A CRD's types are published some time after it was created.
  const custom = await vi.waitFor(async () => {
    const types = await typesOfServer(get, CUSTOM);
    expect(Object.keys(types).join()).toMatch(/PrometheusRule,.*ServiceMonitor,.*SecurityContextConstraints,/);
    return types;
  }, WAIT);
  for (const { kubernetes, types } of [...older, { kubernetes: NEWEST, types: await typesOfServer(get, BUILT_IN) }])
    schemas[kubernetes] = await writeSchemas(join(directory, kubernetes), { ...custom, ...types });
});
afterAll(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true });
});

const rendered = new Map<string, Promise<Outcome>>();

/** Renders a set of values by a helm, once for each. @param release leaves out types that this Kubernetes does not serve */
function render(helm: Helm, name: string, release = NEWEST): Promise<Outcome> {
  const key = [helm, name, release].join();
  const outcome = rendered.get(key) ?? renderOnce(helm, name, release);
  rendered.set(key, outcome);
  return outcome;
}

const renderOnce = async (helm: Helm, name: string, release: string): Promise<Outcome> =>
  run(await binary(helm), [
    ...['template', 'traffic-operator', CHART, '-n', 'traffic-operator-system', '--values', fileOf(name)],
    ...(release === NEWEST ? [] : ['--kube-version', release]),
  ]);

const kubeconform = async (release: string, input: string | object) =>
  run(await binary('kubeconform'), ['-strict', '-summary', '-schema-location', schemas[release]!], input);

describe.each(Object.keys(VALUE_SETS))('the chart with %s', (name) => {
  it.each(HELMS)('passes the lint of %s', async (helm) => {
    const outcome = await run(await binary(helm), ['lint', '--strict', '--quiet', CHART, '--values', fileOf(name)]);
    expect(outcome).toEqual({ ok: true, text: expect.not.stringContaining('[WARNING]') as string });
  });

  it('is the same by helm 3 and by helm 4', async () => {
    const objects = await Promise.all(
      HELMS.map(async (helm) => {
        const outcome = await render(helm, name);
        expect(outcome).toEqual(DONE);
        return manifestsIn(outcome.text)
          .map((object) => JSON.stringify(object))
          .sort();
      }),
    );
    expect(objects[0]).toEqual(objects[1]);
  });

  it.each(RELEASES)('makes objects that Kubernetes %s knows, field by field (kubeconform)', async (release) => {
    const { text } = await render('helm', name, release);
    expect(await kubeconform(release, text)).toEqual(NO_PROBLEM);
  });

  it('makes pods that may run where Pod Security is restricted', async () => {
    for (const object of helmTemplate('--values', fileOf(name), '--set', 'priorityClassName=')) {
      const { template } = (object.spec ?? {}) as { template?: Manifest };
      if (template === undefined) continue;
      const metadata = { ...template.metadata, name: 'p', namespace: 'restricted' };
      const pod = { ...template, apiVersion: 'v1', kind: 'Pod', metadata };
      expect(await cluster.kubectl(['create', '--dry-run=server', '-f-'], pod)).toEqual(DONE);
    }
  });
});

describe.each(RELEASES)('kubeconform with the types of Kubernetes %s', (release) => {
  it.each([
    ['a misspelt field', 'v1', 'Service', { ports: [{ prot: 1, port: 1 }] }, 'prot'],
    ['a wrong type', 'v1', 'Service', { ports: [{ port: 'x' }] }, 'port'],
    ['a misspelt field of a custom resource', 'monitoring.coreos.com/v1', 'ServiceMonitor', WRONG_MONITOR, 'prot'],
  ])('finds %s, or it would prove nothing', async (_what, apiVersion, kind, spec, field) => {
    const outcome = await kubeconform(release, { apiVersion, kind, metadata: { name: 'x' }, spec });
    expect(outcome).toEqual({ ok: false, text: expect.stringContaining(field) as string });
  });
});

it('looks at the three minors of which the API server here is the newest', async () => {
  const { text } = await cluster.kubectl(['version', '-ojson']);
  const { serverVersion } = JSON.parse(text) as { serverVersion: { minor: string } };
  const newest = Number.parseInt(serverVersion.minor, 10);
  const minors = older.map(({ kubernetes }) => Number(kubernetes.split('.')[1]));
  expect([...minors, newest]).toEqual([newest - 2, newest - 1, newest]);
});
