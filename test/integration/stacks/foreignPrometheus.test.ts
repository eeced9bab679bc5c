import type { V1ServicePort } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DAEMONSETS, NAMESPACES, SERVICES } from '../../../src/runtime/client/resources.ts';
import { audited, untilNone, writesOf } from '../../harness/audit.ts';
import { Installation } from './installation.ts';
import { WAIT, type StackScene } from './scene.ts';

/** A monitoring that was there before the operator. Names of Services do not resolve here, so its Prometheus never answers. */
const USER = 'stack-foreign-prometheus';
const THEIRS = { namespace: 'monitoring', name: 'prometheus-operated' };
const OF_HELM = { namespace: 'monitoring', name: 'prometheus-server' };
const URL = 'http://prometheus-operated.monitoring.svc:9090';
const SOUGHT = 'a Service of prometheus-operator or of the helm chart prometheus';
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await s.f.client.create(NAMESPACES, { metadata: { name: THEIRS.namespace } });
});
afterAll(() => i.stop());

const metrics = (mode: ComponentSpec['mode']): ComponentSpec[] => [
  { name: 'metrics', type: 'Prometheus', mode },
  { name: 'asks', type: 'Dashboards', ready: { query: 'up' } },
];
const PORTS: V1ServicePort[] = [{ name: 'web', port: 9090 }];
const installPrometheus = () =>
  s.f.client.create(SERVICES, {
    metadata: { ...THEIRS, labels: { 'operated-prometheus': 'true' } },
    spec: { clusterIP: 'None', selector: { app: 'prometheus' }, ports: PORTS },
  });
const installExporter = () => {
  const labels = { app: 'exporter' };
  const ports = [{ name: 'metrics', containerPort: 9100 }];
  const containers = [{ name: 'node-exporter', image: 'theirs:7', ports }];
  return s.f.client.create(DAEMONSETS, {
    metadata: { namespace: THEIRS.namespace, name: 'node-exporter' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { hostNetwork: true, containers } },
    },
  });
};
const requests = (verb: string) =>
  audited(s.f.controlPlane).filter((each) => each.user === USER && each.verb === verb && each.resource === 'services');

it('an exporter that was there first is used by the stack default: no second one is ever made', async () => {
  await installExporter();
  await installPrometheus();
  await i.startOperator('--default-stack');
  await s.ready('default');
  expect(await s.component('node-exporter', 'default')).toMatchObject({
    ...{ mode: 'External', uses: { kind: 'DaemonSet', namespace: THEIRS.namespace, name: 'node-exporter' } },
  });
  const written = writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === 'daemonsets');
  expect(written).toEqual([]);
});

it('with Auto, a Prometheus that does not answer is not used: the stack makes its own', async () => {
  expect(await s.component('prometheus', 'default')).toMatchObject({ state: 'Ready', reason: 'AllAvailable' });
  expect((await s.component('prometheus', 'default'))?.uses).toBeUndefined();
  await i.deployment();
});

it('with External, it is named, and asked in place of that of the operator, which is removed', async () => {
  await i.restartOperator();
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await vi.waitFor(() => expect(s.stack('default')).rejects.toSatisfy(isNotFound), WAIT);
  await s.create('main', metrics('External'));
  await s.becomes('metrics', {
    ...{
      mode: 'External',
      state: 'Progressing',
      reason: 'ExternalUnusable',
      uses: { kind: 'Service', ...THEIRS, url: URL },
    },
    message: expect.stringMatching(
      new RegExp(`^Service monitoring/prometheus-operated gives no answer at ${URL}: cannot connect to .*ENOTFOUND`),
    ) as string,
  });
  await vi.waitFor(() => expect(i.deployment()).rejects.toSatisfy(isNotFound), WAIT);
  // Whatever else asks, asks it, too.
  await s.becomes('asks', { message: expect.stringContaining(`cannot connect to ${URL}`) as string });
});

it('while none answers, nothing is read: all that may be used are watched', async () => {
  // Until their watch is current, they are read.
  await untilNone('nothing is read', () => ['get', 'list', 'watch'].flatMap(requests), 20_000);
});

it('one that is gone is replaced by that of the helm chart prometheus', async () => {
  await s.f.client.delete(SERVICES, THEIRS);
  const uses = { kind: 'Service', ...OF_HELM, url: 'http://prometheus-server.monitoring.svc:80' };
  await s.f.client.create(SERVICES, {
    metadata: {
      ...OF_HELM,
      labels: { 'app.kubernetes.io/name': 'prometheus', 'app.kubernetes.io/component': 'server' },
    },
    spec: { selector: { app: 'prometheus' }, ports: [{ name: 'http', port: 80, targetPort: 9090 }] },
  });
  await s.becomes('metrics', { mode: 'External', reason: 'ExternalUnusable', uses });
});

it('one that is gone is missed; with Auto, the stack makes its own then', async () => {
  await s.f.client.delete(SERVICES, OF_HELM);
  await s.becomes('metrics', {
    ...{ state: 'Progressing', reason: 'ExternalMissing' },
    message: `${SOUGHT} does not exist: with the mode External, another owner creates it`,
  });
  expect((await s.component('metrics'))?.uses).toBeUndefined();
  await s.change('main', metrics('Auto'));
  await s.becomes('metrics', { state: 'Ready', reason: 'AllAvailable' });
  await i.deployment();
});
