import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SERVICES } from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { measured, seconds } from '../../harness/measured.ts';
import { SLACK } from '../../harness/slack.ts';
import { Installation, OPERATOR } from './installation.ts';
import { component, WAIT, type StackScene } from './scene.ts';
import { installTheirPrometheus, resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/** A monitoring that was there before the operator: a real Prometheus behind a Service, whose name leads to it. */
const USER = 'stack-answering-prometheus';
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await installTheirPrometheus(s);
  await resolvingServices(() => i.startOperator('--default-stack', '--prometheus-storage-size=1Gi'));
});
afterAll(() => i.stop());

const writesTo = (of: string) => writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === of);

it('is used by the stack default of a fresh install', async () => {
  await s.becomes('prometheus', { state: 'Ready', reason: 'Answering', mode: 'External' }, 'default');
});

it('until that is decided, not even the claim of its own is made', async () => {
  // The namespace of the exporter is made by the same pass that would make the claim.
  await vi.waitFor(() => expect(writesTo('namespaces')).not.toEqual([]), WAIT);
  expect(writesTo('persistentvolumeclaims')).toEqual([]);
  expect(writesTo('deployments')).toEqual([]);
});

it('that it does not answer is told within 10 s, and nothing is made in its place', async () => {
  await s.f.stopPrometheus();
  const since = performance.now();
  await s.becomes('prometheus', { state: 'Degraded', reason: 'ExternalUnusable' }, 'default');
  const took = performance.now() - since;
  measured(`a Prometheus of somebody else that does not answer is told after ${seconds(took)}`);
  expect(took).toBeLessThan(SLACK * 10_000);
  await s.f.startPrometheus();
  await s.becomes('prometheus', { state: 'Ready', reason: 'Answering' }, 'default');
  expect(writesTo('deployments')).toEqual([]);
});

/** The files with the address of the Prometheus. */
const urls = async () => {
  const maps = await s.f.client.list<V1ConfigMap>(CONFIG_MAPS, { namespace: 'default' });
  return maps.flatMap(({ data, metadata }) => (metadata?.labels?.[COMPONENT_LABEL] === 'web' ? [data?.url] : []));
};
const written = () =>
  writesOf(s.f.controlPlane, USER).filter(({ name, verb }) => name.startsWith('web-etc-') && verb === 'patch');

it('files have its address and port, from the first one on', async () => {
  const files = { url: '${components.prometheus.addresses[0]}:${components.prometheus.ports.web}' };
  const config = [{ name: 'etc', mountPath: '/etc/web', files }];
  const { spec } = await s.stack('default');
  const web = component('web', { dependsOn: ['prometheus'], workload: { config } });
  await s.change('default', [...spec.components, web]);
  await s.ready('default');
  const { hostname } = new URL((await s.component('prometheus', 'default'))?.uses?.url ?? '');
  expect(hostname).toBe('prometheus-operated.monitoring.svc');
  expect(await urls()).toEqual([`${hostname}:${new URL(s.f.prometheusUrl).port}`]);
  expect(written()).toHaveLength(1);
});

const claim = async () => (await s.f.client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: OPERATOR.namespace }))[0];

it('when it is gone, the own one is made, with its claim', async () => {
  await s.f.client.delete(SERVICES, THEIR_PROMETHEUS);
  await vi.waitFor(() => i.deployment(), WAIT);
  await vi.waitFor(async () => expect((await claim())?.spec?.resources?.requests).toEqual({ storage: '1Gi' }), WAIT);
  // Its claim has no volume here, so it is not ready, and what depends on it keeps its file.
  expect(await urls()).toEqual([expect.stringMatching(/^prometheus-operated\.monitoring\.svc:/)]);
});

it.each(['External', 'Disabled'] as const)('with mode %s the own one goes, and its claim stays', async (mode) => {
  const before = (await claim())?.metadata?.uid;
  await s.change('default', [{ name: 'prometheus', type: 'Prometheus', mode }]);
  await vi.waitFor(() => expect(i.deployment()).rejects.toSatisfy(isNotFound), WAIT);
  await s.change('default', [{ name: 'prometheus', type: 'Prometheus' }]);
  await vi.waitFor(() => i.deployment(), WAIT);
  expect((await claim())?.metadata).toMatchObject({ uid: before });
  expect(writesTo('persistentvolumeclaims').map(({ verb }) => verb)).not.toContain('delete');
});
