import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { writesOf, type AuditedRequest } from '../../harness/audit.ts';
import { sleep } from '../../harness/measured.ts';
import { EXPORTER, PROMETHEUS, identity, Installation, ownersOf } from './installation.ts';
import { component, expectRefused, PERSON, unusedRights, WAIT, type StackScene } from './scene.ts';

/** Built-in components: a stack takes over what the measurement has deployed, and gives it back. */
const USER = 'stack-built-ins';
let i: Installation;
let s: StackScene;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await i.startOperator();
});
afterAll(() => i.stop());

/** What the operator wrote to all but stacks, targets and events, after so many writes. */
const writesAfter = (count: number): string[] =>
  all()
    .slice(count)
    .map(({ verb, resource, name }) => `${verb} ${resource}/${name}`);
const all = (): AuditedRequest[] =>
  writesOf(s.f.controlPlane, USER).filter(
    ({ resource, name }) => !/^(trafficstacks|events|pods)/.test(resource) && !name.startsWith('prometheus-targets'),
  );
/** Both controllers see this, and it is of neither. */
const annotateAll = async (value: string): Promise<void> => {
  const note = { metadata: { annotations: { 'example.com/note': value } } };
  await s.f.client.mergePatch(DAEMONSETS, EXPORTER, note, PERSON);
  await s.f.client.mergePatch(DEPLOYMENTS, PROMETHEUS, note, PERSON);
};

const exporter = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({
  ...{ name: 'exporter', type: 'NodeExporter' },
  ...over,
});
const metrics: ComponentSpec = { name: 'metrics', type: 'Prometheus', dependsOn: ['exporter'] };
const web = component('web', {
  dependsOn: ['metrics'],
  workload: {
    config: [
      {
        name: 'etc',
        mountPath: '/etc/web',
        files: { url: 'http://${components.metrics.addresses[0]}:${components.metrics.ports.web}' },
      },
    ],
  },
});

it('adopts what the measurement has deployed: no pod restarts, and one controller writes', async () => {
  await i.measures();
  const before = { exporter: await i.daemonSet(), prometheus: await i.deployment() };
  expect([ownersOf(before.exporter), ownersOf(before.prometheus)]).toEqual([[], ['Deployment traffic-operator']]);
  const pods = await i.pods();
  await s.create('main', [web, metrics, exporter()]);
  await s.ready();

  expect(identity(await i.daemonSet())).toEqual(identity(before.exporter));
  expect(identity(await i.deployment())).toEqual(identity(before.prometheus));
  // That of a Deployment also counts its annotations.
  expect((await i.daemonSet()).metadata?.generation).toBe(before.exporter.metadata?.generation);
  expect(await i.pods()).toEqual(pods);
  for (const found of [await i.daemonSet(), await i.deployment()]) {
    expect(ownersOf(found)).toEqual(['TrafficStack main']);
    expect(found.metadata?.labels).toMatchObject({ [STACK_LABEL]: 'main' });
    expect(found.spec?.template.metadata?.labels).not.toHaveProperty(STACK_LABEL);
  }
  const version = before.exporter.spec?.template.spec?.containers[0]?.image;
  expect(await s.component('exporter')).toMatchObject({ type: 'NodeExporter', replicas: 1, readyReplicas: 1, version });
  const [file] = (await s.f.client.list<V1ConfigMap>(CONFIG_MAPS, { namespace: 'default' })).filter(
    ({ metadata }) => metadata?.labels?.[COMPONENT_LABEL] === 'web',
  );
  expect(file?.data).toEqual({ url: 'http://prometheus.traffic-operator-system.svc:9090' });
});

it('writes nothing while nothing changes, also after a restart', async () => {
  const before = all().length;
  await annotateAll('one');
  await i.restartOperator();
  await annotateAll('two');
  // What is written proves that those before were seen.
  await s.f.client.mergePatch(SERVICES, PROMETHEUS, { metadata: { labels: { [STACK_LABEL]: 'x' } } }, PERSON);
  await vi.waitFor(() => expect(writesAfter(before)).not.toEqual([]), WAIT);
  await s.ready();
  expect(writesAfter(before)).toEqual(['patch services/prometheus']);
  const series = (await (await fetch(s.f.operator().metricsUrl)).text()).split('\n');
  expect(series).toContain('traffic_operator_measurement_problems 0');
});

it('corrects what others change, once', async () => {
  const before = all().length;
  const containers = [{ name: 'node-exporter', image: 'another:1' }];
  await s.f.client.mergePatch(DAEMONSETS, EXPORTER, { spec: { template: { spec: { containers } } } }, PERSON);
  await s.f.client.delete(SERVICE_ACCOUNTS, PROMETHEUS);
  await vi.waitFor(() => expect(writesAfter(before)).toHaveLength(2), WAIT);
  await s.ready();
  expect(writesAfter(before).sort()).toEqual(['patch daemonsets/node-exporter', 'patch serviceaccounts/prometheus']);
});

it('has the settings of the stack', async () => {
  const before = all().length;
  const resources = { limits: { memory: '64Mi' } };
  const settings = exporter({ nodeExporter: { port: 9200, resources } });
  await s.change('main', [web, metrics, settings]);
  await s.ready();
  const container = (await i.daemonSet()).spec?.template.spec?.containers[0];
  expect([container?.resources, container?.args?.[0]]).toEqual([resources, '--web.listen-address=[$(IP)]:9200']);
  await annotateAll('three');
  await s.change('main', [web, metrics, { ...settings, deadline: '9m' }]);
  await s.ready();
  expect(writesAfter(before)).toEqual(['patch services/node-exporter', 'patch daemonsets/node-exporter']);
});

it('has what is common to the stack, and without that is exactly as before', async () => {
  const templates = async () => [(await i.daemonSet()).spec?.template, (await i.deployment()).spec?.template];
  const before = await templates();
  const imagePullSecrets = [{ name: 'registry' }];
  const common = { imagePullSecrets, tolerations: [{ key: 'infra', operator: 'Exists' }] };
  const setCommon = (value: object | null) =>
    s.f.client.mergePatch(TRAFFIC_STACKS, { name: 'main' }, { spec: { common: value } }, PERSON);
  await setCommon(common);
  await s.ready();
  const [ofExporter, ofPrometheus] = await templates();
  expect(ofPrometheus?.spec).toMatchObject(common);
  // It tolerates all taints.
  expect(ofExporter?.spec).toMatchObject({ imagePullSecrets, tolerations: [{ operator: 'Exists' }] });
  await setCommon(null);
  await s.ready();
  expect(await templates()).toEqual(before);
});

it('is refused to a second stack, by name', async () => {
  const object = `ServiceAccount ${EXPORTER.namespace}/node-exporter`;
  await expectRefused(s, exporter({ name: 'mine' }), { object, of: 'exporter' });
  expect(ownersOf(await i.daemonSet())).toEqual(['TrafficStack main']);
});

it('is off while the stack says so, with its namespace', async () => {
  await s.change('main', [exporter({ mode: 'Disabled' }), { ...metrics, dependsOn: [] }]);
  await i.exporterIsGone();
  await s.ready();
  expect(ownersOf(await i.deployment())).toEqual(['TrafficStack main']);
});

it('waits for what it depends on, although the flags deploy it', async () => {
  s.kubelet.faults.set('db', { reason: 'CrashLoopBackOff', message: 'back-off restarting' });
  const db = component('db');
  const settings = exporter({ dependsOn: ['db'], nodeExporter: { port: 9200 } });
  await s.change('main', [settings, metrics, db]);
  await vi.waitFor(async () => {
    expect(await s.component('exporter')).toMatchObject({ state: 'Waiting', waitingOn: { component: 'db' } });
    // The measurement has seen this stack, too.
    await s.f.client.get(NAMESPACES, { name: EXPORTER.namespace });
  }, WAIT);
  // It would be created within milliseconds.
  await sleep(1_000);
  await expect(i.daemonSet()).rejects.toSatisfy(isNotFound);
  s.kubelet.faults.delete('db');
  await s.ready();
});

it('is deployed by the measurement again when the stack is gone, and not before', async () => {
  const before = all().length;
  const [uid] = identity(await i.daemonSet());
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await vi.waitFor(async () => expect(identity(await i.daemonSet())[0]).not.toBe(uid), WAIT);
  await i.measures();
  for (const found of [await i.daemonSet(), await i.deployment()]) {
    expect(found.metadata?.labels).not.toHaveProperty(STACK_LABEL);
  }
  expect(ownersOf(await i.deployment())).toEqual(['Deployment traffic-operator']);
  expect((await i.daemonSet()).spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort).toBe(9100);
  for (const name of ['prometheus', 'node-exporter']) {
    const verbs = all()
      .slice(before)
      .flatMap((write) => (write.name === name ? [write.verb] : []));
    expect(verbs.slice(0, 3)).toEqual(['delete', 'delete', 'delete']);
    expect(new Set(verbs.slice(3))).toEqual(new Set(['patch']));
  }
});

it('is removed with the stack if the flags deploy none, and one of somebody else is refused', async () => {
  await i.restartOperator('--node-exporter=false');
  await i.exporterIsGone();
  await s.create('main', [exporter()]);
  await s.ready();
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  // The stack goes after its objects, and its name is needed again.
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await i.exporterIsGone();
  await s.f.client.create(NAMESPACES, { metadata: { name: EXPORTER.namespace } });
  const labels = { app: 'theirs' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'theirs', image: 'theirs:1' }] } };
  const spec = { selector: { matchLabels: labels }, template };
  const theirs = await s.f.client.create(DAEMONSETS, { metadata: EXPORTER, spec }, PERSON);
  await s.create('main', [exporter()]);
  await vi.waitFor(async () => {
    expect(await s.component('exporter')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message:
        `DaemonSet ${EXPORTER.namespace}/node-exporter exists and is not of this stack, ` +
        'but of the field manager person: it is left as it is',
    });
  }, WAIT);
  expect(identity(await i.daemonSet())).toEqual(identity(theirs));
});

it('uses each of its rights on ServiceAccounts', () => {
  expect(unusedRights(s, USER, (resource) => resource === 'serviceaccounts')).toEqual([]);
});
