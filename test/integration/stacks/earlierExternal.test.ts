import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { helmTemplate } from '../../../scripts/chart/helm.ts';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../src/api/trafficstack/trafficStack.ts';
import { FIELD_MANAGER } from '../../../src/controllers/trafficstack/names.ts';
import { DAEMONSETS, DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { operatorArgs } from './earlier/operatorArgs.ts';
import { Installation, OPERATOR } from './installation.ts';
import { LEASE_RIGHTS, unusedRights, USER, WAIT, type StackScene } from './scene.ts';
import { installTheirPrometheus, resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/**
 * The upgrade from the version at b54efd4d, whose stack `default` had found a Prometheus and a node-exporter and used them with the mode Auto. The
 * stack is as a real operator of that version wrote it, with the default values of its chart but for the scrape interval, next to the objects that are
 * made here.
 */
const RECORDED = JSON.parse(readFileSync(new URL('earlier/testdata/b54efd4d.json', import.meta.url), 'utf8')) as Pick<
  TrafficStack,
  'spec' | 'status'
> & { readonly annotations: Record<string, string>; readonly labels: Record<string, string> };
const EXPORTER = { namespace: THEIR_PROMETHEUS.namespace, name: 'node-exporter' };
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER, [], [LEASE_RIGHTS], false);
  s = i.scene;
  await installTheirPrometheus(s);
  await createExporter();
  await replay();
});
afterAll(() => i.stop());

/** As the helm chart prometheus-node-exporter makes it. */
async function createExporter(): Promise<void> {
  const labels = { 'app.kubernetes.io/name': 'node-exporter' };
  const ports = [{ name: 'http-metrics', containerPort: 9100, hostPort: 9100, protocol: 'TCP' }];
  const container = {
    name: 'node-exporter',
    image: 'theirs:7',
    args: ['--web.listen-address=[$(HOST_IP)]:9100'],
    ports,
  };
  const template = { metadata: { labels }, spec: { hostNetwork: true, containers: [container] } };
  await s.f.client.create(DAEMONSETS, { metadata: EXPORTER, spec: { selector: { matchLabels: labels }, template } });
}

/** Only the port of the Prometheus differs. */
async function replay(): Promise<void> {
  const { spec, status, annotations, labels } = RECORDED;
  const ref = { name: 'default' };
  await s.f.client.create(
    TRAFFIC_STACKS,
    { metadata: { ...ref, annotations, labels }, spec },
    { fieldManager: FIELD_MANAGER },
  );
  const port = new URL(s.f.prometheusUrl).port;
  const ofHere = JSON.parse(JSON.stringify(status).replaceAll(/(monitoring\.svc):\d+/g, `$1:${port}`)) as object;
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status' };
  await s.f.client.mergePatch(TRAFFIC_STACKS, ref, { status: ofHere }, options);
}

it('the earlier version used what it had found, without naming it', async () => {
  const { spec, status } = await s.stack('default');
  expect(spec.components.map(({ mode }) => mode)).toEqual(['Auto', 'Auto']);
  expect(status?.components).toMatchObject([
    { name: 'node-exporter', state: 'Ready', mode: 'External', uses: { kind: 'DaemonSet', ...EXPORTER } },
    { name: 'prometheus', state: 'Ready', mode: 'External', uses: { kind: 'Service', ...THEIR_PROMETHEUS } },
  ]);
});

it('the upgrade names both in the spec, and deploys nothing of its own', async () => {
  await resolvingServices(() => i.startWith(operatorArgs(helmTemplate())));
  await vi.waitFor(async () => {
    const { spec, status } = await s.stack('default');
    expect(spec.components).toMatchObject([
      { name: 'node-exporter', mode: 'External', external: { kind: 'DaemonSet', ...EXPORTER } },
      { name: 'prometheus', mode: 'External', external: { kind: 'Service', ...THEIR_PROMETHEUS } },
    ]);
    expect(status?.components?.map(({ state, mode }) => `${state} ${mode}`)).toEqual([
      'Ready External',
      'Ready External',
    ]);
  }, WAIT);
  await s.ready('default');
  const own = [DEPLOYMENTS, DAEMONSETS, PERSISTENT_VOLUME_CLAIMS].map(({ plural }) => plural);
  expect(writesOf(s.f.controlPlane, USER).filter(({ resource }) => own.includes(resource))).toEqual([]);
  const deployments = await s.f.client.list(DEPLOYMENTS);
  expect(deployments.map(({ metadata }) => metadata?.name)).toEqual([OPERATOR.name]);
  expect((await s.f.client.list(DAEMONSETS)).map(({ metadata }) => metadata?.namespace)).toEqual([EXPORTER.namespace]);
});

it('nothing is refused to the operator', () => {
  expect(unusedRights(s, USER, () => false)).toEqual([]);
});
