import type { V1Container } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DAEMONSETS, SERVICES } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { Installation } from './installation.ts';
import type { StackScene } from './scene.ts';
import { installTheirPrometheus, resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/** The node-exporter of a kube-prometheus, behind kube-rbac-proxy, and a real Prometheus that has its series. */
const USER = 'stack-exporter-behind-proxy';
const THEIRS = { namespace: THEIR_PROMETHEUS.namespace, name: 'node-exporter' };
const NAME = 'node-exporter';
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await installTheirPrometheus(s);
  await installExporter();
  await resolvingServices(() => i.startOperator('--default-stack'));
});
afterAll(() => i.stop());

/** As in kube-prometheus: manifests/nodeExporter-daemonset.yaml. Only the proxy listens on the addresses of the node. */
const CONTAINERS: readonly V1Container[] = [
  {
    ...{ name: NAME, image: 'quay.io/prometheus/node-exporter:v1.10.2' },
    args: ['--web.listen-address=127.0.0.1:9100', '--path.sysfs=/host/sys'],
  },
  {
    ...{ name: 'kube-rbac-proxy', image: 'quay.io/brancz/kube-rbac-proxy:v0.20.0' },
    args: ['--secure-listen-address=[$(IP)]:9100', '--upstream=http://127.0.0.1:9100/'],
    ports: [{ name: 'https', containerPort: 9100, hostPort: 9100 }],
  },
];
function installExporter(): Promise<unknown> {
  const labels = { 'app.kubernetes.io/name': NAME };
  const spec = { hostNetwork: true, terminationGracePeriodSeconds: 0, containers: [...CONTAINERS] };
  return s.f.client.create(DAEMONSETS, {
    metadata: THEIRS,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}
const becomes = (wanted: object) => s.becomes(NAME, { mode: 'External', ...wanted }, 'default');
const hasNone = async () => {
  await expect(i.daemonSet()).rejects.toSatisfy(isNotFound);
  expect(writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === 'daemonsets')).toEqual([]);
};

it('is used with Auto beside a Prometheus that has its series: the operator need not scrape it', async () => {
  await s.ready('default');
  const { components } = (await s.stack('default')).spec;
  expect(components.find(({ name }) => name === NAME)?.mode ?? 'Auto').toBe('Auto');
  await becomes({
    ...{ state: 'Ready', reason: 'AllAvailable', uses: { kind: 'DaemonSet', ...THEIRS } },
    message: 'uses DaemonSet monitoring/node-exporter: 1 of 1 pods are available',
  });
  await s.becomes('prometheus', { state: 'Ready', reason: 'Answering', mode: 'External' }, 'default');
  await hasNone();
});

it('is of no use without that Prometheus, since that of the operator has no token: it is named, and none takes its port', async () => {
  await s.f.client.delete(SERVICES, THEIR_PROMETHEUS);
  await becomes({
    ...{ state: 'Degraded', reason: 'ExternalUnusable' },
    message: expect.stringMatching(/^DaemonSet monitoring\/node-exporter serves the port 9100 over HTTPS/) as string,
  });
  await hasNone();
});
