import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { V1ConfigMap, V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { TRAFFIC_STACKS, type ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  DEPLOYMENTS,
  NAMESPACES,
  NODES,
  PODS,
  SERVICE_ACCOUNTS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { writesOf, type AuditedRequest } from '../../harness/audit.ts';
import { sleep } from '../../harness/measured.ts';
import { giveRoom } from '../injection/world.ts';
import { NODE } from './kubelet.ts';
import { component, PERSON, startScene, unusedRights, WAIT, type StackScene } from './scene.ts';

/** Built-in components: a stack takes over what the measurement has deployed, and gives it back. */
const USER = 'stack-built-ins';
const OPERATOR = { namespace: 'traffic-operator-system', name: 'traffic-operator' };
const EXPORTER = { namespace: 'traffic-operator-system-node-exporter', name: 'node-exporter' };
const PROMETHEUS = { namespace: OPERATOR.namespace, name: 'prometheus' };
let s: StackScene;

/** With a Deployment of the operator, which owns what the measurement deploys. */
beforeAll(async () => {
  s = await startScene(USER, { controllers: ['namespace-controller'] });
  await giveRoom(s.f, [NODE]);
  await s.f.client.mergePatch(NODES, { name: NODE }, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, PERSON);
  await s.f.client.create(NAMESPACES, { metadata: { name: OPERATOR.namespace } }).catch(() => undefined);
  const labels = { app: 'operator' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'operator', image: 'operator:1' }] } };
  await s.f.client.create(DEPLOYMENTS, { metadata: OPERATOR, spec: { selector: { matchLabels: labels }, template } });
  await vi.waitFor(async () => {
    const [pod] = await s.f.client.list(PODS, { namespace: OPERATOR.namespace });
    expect(pod?.metadata?.name).toBeDefined();
    vi.stubEnv('POD_NAME', pod?.metadata?.name);
  }, WAIT);
  await startOperator();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await s.stop();
});

/** It deploys a Prometheus of its own. */
async function startOperator(...args: readonly string[]): Promise<void> {
  const over = { kubeconfig: s.kubeconfig, prometheusUrl: undefined };
  await s.f.startOperator(['--scrape-interval=1s', '--stacks', ...args], over);
}
const daemonSet = (): Promise<V1DaemonSet> => s.f.client.get(DAEMONSETS, EXPORTER);
const deployment = (): Promise<V1Deployment> => s.f.client.get(DEPLOYMENTS, PROMETHEUS);
const podsOf = async (namespace: string) =>
  (await s.f.client.list(PODS, { namespace })).map((pod) => pod.metadata?.uid);
/** All that a pod is made of, and the identity of what makes it. */
const identity = ({ metadata, spec }: V1DaemonSet | V1Deployment) => [metadata?.uid, spec];
const ownersOf = ({ metadata }: V1DaemonSet | V1Deployment) =>
  metadata?.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`) ?? [];
const measured = () =>
  vi.waitFor(async () => {
    expect((await daemonSet()).status).toMatchObject({ numberAvailable: 1 });
    expect((await deployment()).status).toMatchObject({ availableReplicas: 1 });
  }, WAIT);
/** With its namespace, which is the last. */
const exporterIsGone = () =>
  vi.waitFor(
    () => expect(s.f.client.get(NAMESPACES, { name: EXPORTER.namespace })).rejects.toSatisfy(isNotFound),
    WAIT,
  );
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
  await measured();
  const before = { exporter: await daemonSet(), prometheus: await deployment() };
  expect([ownersOf(before.exporter), ownersOf(before.prometheus)]).toEqual([[], ['Deployment traffic-operator']]);
  const pods = [await podsOf(EXPORTER.namespace), await podsOf(PROMETHEUS.namespace)];
  await s.create('main', [web, metrics, exporter()]);
  await s.ready();

  expect(identity(await daemonSet())).toEqual(identity(before.exporter));
  expect(identity(await deployment())).toEqual(identity(before.prometheus));
  // That of a Deployment also counts its annotations.
  expect((await daemonSet()).metadata?.generation).toBe(before.exporter.metadata?.generation);
  expect([await podsOf(EXPORTER.namespace), await podsOf(PROMETHEUS.namespace)]).toEqual(pods);
  for (const found of [await daemonSet(), await deployment()]) {
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
  await s.f.stopOperator();
  await startOperator();
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
  const container = (await daemonSet()).spec?.template.spec?.containers[0];
  expect([container?.resources, container?.args?.[0]]).toEqual([resources, '--web.listen-address=[$(IP)]:9200']);
  await annotateAll('three');
  await s.change('main', [web, metrics, { ...settings, deadline: '9m' }]);
  await s.ready();
  expect(writesAfter(before)).toEqual(['patch services/node-exporter', 'patch daemonsets/node-exporter']);
});

it('is refused to a second stack, by name', async () => {
  await s.create('second', [exporter({ name: 'mine' })]);
  await vi.waitFor(async () => {
    expect(await s.component('mine', 'second')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: `ServiceAccount ${EXPORTER.namespace}/node-exporter exists and is not of this stack: it is left as it is`,
    });
  }, WAIT);
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'second' });
  await vi.waitFor(() => expect(s.stack('second')).rejects.toSatisfy(isNotFound), WAIT);
  expect(ownersOf(await daemonSet())).toEqual(['TrafficStack main']);
});

it('is off while the stack says so, with its namespace', async () => {
  await s.change('main', [exporter({ mode: 'Disabled' }), { ...metrics, dependsOn: [] }]);
  await exporterIsGone();
  await s.ready();
  expect(ownersOf(await deployment())).toEqual(['TrafficStack main']);
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
  await expect(daemonSet()).rejects.toSatisfy(isNotFound);
  s.kubelet.faults.delete('db');
  await s.ready();
});

it('is deployed by the measurement again when the stack is gone, and not before', async () => {
  const before = all().length;
  const { metadata } = await daemonSet();
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await vi.waitFor(async () => expect((await daemonSet()).metadata?.uid).not.toBe(metadata?.uid), WAIT);
  await measured();
  for (const found of [await daemonSet(), await deployment()]) {
    expect(found.metadata?.labels).not.toHaveProperty(STACK_LABEL);
  }
  expect(ownersOf(await deployment())).toEqual(['Deployment traffic-operator']);
  expect((await daemonSet()).spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort).toBe(9100);
  for (const name of ['prometheus', 'node-exporter']) {
    const verbs = all()
      .slice(before)
      .flatMap((write) => (write.name === name ? [write.verb] : []));
    expect(verbs.slice(0, 3)).toEqual(['delete', 'delete', 'delete']);
    expect(new Set(verbs.slice(3))).toEqual(new Set(['patch']));
  }
});

it('is removed with the stack if the flags deploy none, and one of somebody else is refused', async () => {
  await s.f.stopOperator();
  await startOperator('--node-exporter=false');
  await exporterIsGone();
  await s.create('main', [exporter()]);
  await s.ready();
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await exporterIsGone();
  await s.f.client.create(NAMESPACES, { metadata: { name: EXPORTER.namespace } });
  const labels = { app: 'theirs' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'theirs', image: 'theirs:1' }] } };
  const theirs = await s.f.client.create(DAEMONSETS, {
    metadata: EXPORTER,
    spec: { selector: { matchLabels: labels }, template },
  });
  await s.create('main', [exporter()]);
  await vi.waitFor(async () => {
    expect(await s.component('exporter')).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject' },
      message: `DaemonSet ${EXPORTER.namespace}/node-exporter exists and is not of this stack: it is left as it is`,
    });
  }, WAIT);
  expect(identity(await daemonSet())).toEqual(identity(theirs));
});

it('is of the stack default with --default-stack, which is made anew when it is deleted', async () => {
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await s.f.client.delete(DAEMONSETS, EXPORTER);
  await s.f.stopOperator();
  await startOperator('--default-stack');
  await s.ready('default');
  const first = await s.stack('default');
  expect(first.spec).toEqual({
    components: [
      { name: 'node-exporter', type: 'NodeExporter' },
      { name: 'prometheus', type: 'Prometheus' },
    ],
  });
  const owners = [ownersOf(await daemonSet()), ownersOf(await deployment())];
  expect(owners.flat()).toEqual(['TrafficStack default', 'TrafficStack default']);
  // What people write stays.
  const components = [exporter({ nodeExporter: { port: 9200 } })];
  await s.change('default', components);
  await s.f.stopOperator();
  await startOperator('--default-stack');
  await s.ready('default');
  expect((await s.stack('default')).spec).toEqual({ components });
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'default' });
  await vi.waitFor(async () => {
    const { metadata, spec } = await s.stack('default');
    expect([metadata?.uid === first.metadata?.uid, spec]).toEqual([false, first.spec]);
  }, WAIT);
  await s.ready('default');
  await measured();
});

it('is of its controller again when stacks are switched off, and no pod restarts', async () => {
  const before = { exporter: await daemonSet(), prometheus: await deployment() };
  const pods = [await podsOf(EXPORTER.namespace), await podsOf(PROMETHEUS.namespace)];
  await s.f.stopOperator();
  await startOperator('--stacks=false');
  await vi.waitFor(async () => {
    expect([ownersOf(await daemonSet()), ownersOf(await deployment())]).toEqual([[], ['Deployment traffic-operator']]);
  }, WAIT);
  expect(identity(await daemonSet())).toEqual(identity(before.exporter));
  expect(identity(await deployment())).toEqual(identity(before.prometheus));
  expect([await podsOf(EXPORTER.namespace), await podsOf(PROMETHEUS.namespace)]).toEqual(pods);
});

it('uses each of its rights on ServiceAccounts', async () => {
  // A watch is in the audit log when it ends.
  await s.f.stopOperator();
  expect(unusedRights(s, USER, (resource) => resource === 'serviceaccounts')).toEqual([]);
});
