import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { helmTemplate, type Manifest } from '../../scripts/chart/helm.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { find, podOf, type PodSpec } from './rendered.ts';

/** The values and the objects of docs/openshift.md. */
const PAGE = readFileSync(new URL('../../docs/openshift.md', import.meta.url), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);
const VALUES = BLOCKS.filter((text) => text.startsWith('# helm values\n'));
const OBJECTS = BLOCKS.filter((text) => text.startsWith('apiVersion: v1\n'))
  .flatMap((text) => parseAllDocuments(text))
  .map((document) => document.toJS() as Manifest);
const FILES = '/etc/traffic-operator';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'openshift-doc-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** The operator's pod, and the kinds of all objects. */
async function rendered(values: string): Promise<{ pod: PodSpec; kinds: string[] }> {
  const file = join(directory, 'values.yaml');
  await writeFile(file, values);
  const objects = helmTemplate('--api-versions=security.openshift.io/v1/SecurityContextConstraints', '--values', file);
  return { pod: podOf(find(objects, 'Deployment')), kinds: objects.map(({ kind }) => kind) };
}

it('has two examples of values, and one of objects', () => {
  expect([VALUES.length, OBJECTS.map(({ kind }) => kind)]).toEqual([
    2,
    ['ServiceAccount', 'ClusterRoleBinding', 'Secret', 'ConfigMap'],
  ]);
});

describe('the values', () => {
  it('for the ports of the nodes are taken by the chart', async () => {
    const { pod } = await rendered(VALUES[0]!);
    expect(pod.containers[0].args).toEqual(
      expect.arrayContaining(['--node-exporter-port=9895', '--connectivity-peer-port=9891']),
    );
  });

  it('for the Thanos querier name the objects next to them, and their keys', async () => {
    const { pod, kinds } = await rendered(VALUES[1]!);
    // The operator deploys no node-exporter.
    expect(kinds).not.toContain('SecurityContextConstraints');
    expect(pod.containers[0].args).toEqual(
      expect.arrayContaining([
        '--openshift=true',
        '--prometheus-url=https://thanos-querier.openshift-monitoring.svc:9091',
        // The key that Kubernetes gives to the token of an account, and OpenShift to the CA.
        `--prometheus-bearer-token-file=${FILES}/token/token`,
        `--prometheus-ca-file=${FILES}/ca/service-ca.crt`,
      ]),
    );
    const named = (kind: string): Manifest => OBJECTS.find((object) => object.kind === kind)!;
    expect(pod.volumes).toEqual([
      { name: 'ca', configMap: { name: named('ConfigMap').metadata.name } },
      { name: 'token', secret: { secretName: named('Secret').metadata.name } },
    ]);
    expect(named('ConfigMap').metadata.annotations).toEqual({ 'service.beta.openshift.io/inject-cabundle': 'true' });
    const account = named('ServiceAccount').metadata.name;
    expect(named('Secret').metadata.annotations).toEqual({ 'kubernetes.io/service-account.name': account });
    expect(named('ClusterRoleBinding').subjects).toEqual([
      { kind: 'ServiceAccount', name: account, namespace: 'traffic-operator-system' },
    ]);
  });

  it('are refused where one is misspelt, or it would prove nothing', async () => {
    const values = JSON.stringify({ ...(parse(VALUES[1]!) as object), intervall: '30s' });
    await expect(rendered(values)).rejects.toThrow('intervall');
  });
});

describe('the objects', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.kubectl(['create', 'namespace', 'traffic-operator-system']);
  });
  afterAll(() => cluster.stop());

  it.each(OBJECTS)('are accepted by an API server with strict field validation: $kind', async (object) => {
    const outcome = await cluster.kubectl(['create', '--validate=strict', '-f-'], object);
    expect(outcome).toEqual({ ok: true, text: expect.stringContaining('created') as string });
  });
});
