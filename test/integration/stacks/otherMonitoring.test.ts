import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { EventsV1Event, V1ConfigMap, V1Container, V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ComponentSpec } from '../../../src/api/trafficstack/trafficStack.ts';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import {
  CONFIG_MAPS,
  DAEMONSETS,
  EVENTS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICES,
} from '../../../src/runtime/client/resources.ts';
import { writesOf } from '../../harness/audit.ts';
import { measured, seconds } from '../../harness/measured.ts';
import { start, whenReady, type RunningProcess } from '../../harness/process.ts';
import { SLACK } from '../../harness/slack.ts';
import { binary } from '../../lab/binaries.ts';
import { Installation, OPERATOR, PROMETHEUS } from './installation.ts';
import { NODE, setAddress } from './kubelet.ts';
import { component, unusedRights, USER, WAIT, type StackScene } from './scene.ts';
import { createTheirService, installTheirPrometheus, resolvingServices, THEIR_PROMETHEUS } from './theirPrometheus.ts';

/**
 * A monitoring that was there before the operator: a real Prometheus behind a Service, and a node-exporter. What is used when is a table in
 * src/controllers/trafficstack/observe/externalProvider/externalProvider.test.ts, named.test.ts and decide/present/builtInExternal.test.ts.
 */
const EXPORTER = { namespace: THEIR_PROMETHEUS.namespace, name: 'node-exporter' };
/** The address of the nodes; pods of the network of pods have another address here. */
const NODE_ADDRESS = '192.0.2.1:9100';
const POD_ADDRESS = '192.0.2.2:9100';
/** The address of the node, where a real node_exporter listens later on. */
const IP = '127.0.0.77';
const FLAGS = ['--default-stack', '--prometheus-storage-size=1Gi'];
let i: Installation;
let s: StackScene;
let exporter: RunningProcess | undefined;
let liar: Server | undefined;

beforeAll(async () => {
  i = await Installation.start(USER);
  s = i.scene;
  await installTheirPrometheus(s);
  await installExporter();
  await installFakes();
  await resolvingServices(() => i.startOperator(...FLAGS));
});
afterAll(async () => {
  await exporter?.stop();
  liar?.close();
  await i.stop();
});

/** As in kube-prometheus: manifests/nodeExporter-daemonset.yaml. Only the proxy listens on the addresses of the node. */
const BEHIND_PROXY: readonly V1Container[] = [
  {
    ...{ name: 'node-exporter', image: 'quay.io/prometheus/node-exporter:v1.10.2' },
    args: ['--web.listen-address=127.0.0.1:9100', '--path.sysfs=/host/sys'],
  },
  {
    ...{ name: 'kube-rbac-proxy', image: 'quay.io/brancz/kube-rbac-proxy:v0.20.0' },
    args: ['--secure-listen-address=[$(IP)]:9100', '--upstream=http://127.0.0.1:9100/'],
    ports: [{ name: 'https', containerPort: 9100, hostPort: 9100 }],
  },
];
/** As the helm chart prometheus-node-exporter makes it. */
const PLAIN: readonly V1Container[] = [
  {
    ...{ name: 'node-exporter', image: 'theirs:7', args: ['--web.listen-address=[$(HOST_IP)]:9100'] },
    ports: [{ name: 'http-metrics', containerPort: 9100, protocol: 'TCP' }],
  },
];
async function installExporter(containers = BEHIND_PROXY): Promise<void> {
  await createExporter(EXPORTER, { containers: [...containers] });
}
function createExporter(metadata: typeof EXPORTER, pod: Partial<V1PodSpec>): Promise<unknown> {
  const labels = { 'app.kubernetes.io/name': 'node-exporter' };
  const spec = { hostNetwork: true, terminationGracePeriodSeconds: 0, containers: [], ...pod };
  return s.f.client.create(DAEMONSETS, {
    metadata,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

/** An object of a user who may write to one namespace, which is sorted before the namespace of the monitoring. */
const FAKE = { namespace: 'aaa', name: 'node-exporter' };
const FAKE_PROMETHEUS = { ...FAKE, name: 'prometheus-operated' };
/** A DaemonSet without pods, and a server that answers with series of another node. */
async function installFakes(): Promise<void> {
  await s.f.client.create(NAMESPACES, { metadata: { name: FAKE.namespace } });
  await createExporter(FAKE, { containers: [...PLAIN], nodeSelector: { no: 'node' } });
  const result = [{ metric: { node: 'elsewhere', device: 'eth0' }, value: [0, '1'] }];
  liar = createServer((_, response) => {
    const body = JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
    response.setHeader('content-type', 'application/json').end(body);
  });
  await new Promise<void>((resolve) => liar?.listen(0, '127.0.0.1', resolve));
  const { port } = liar.address() as AddressInfo;
  await s.f.client.create(SERVICES, {
    metadata: { ...FAKE_PROMETHEUS, labels: { 'operated-prometheus': 'true' } },
    spec: { clusterIP: 'None', selector: { app: 'x' }, ports: [{ name: 'web', port }] },
  });
}

const writesTo = (of: string) => writesOf(s.f.controlPlane, USER).filter(({ resource }) => resource === of);
const becomes = (name: string, wanted: object) => s.becomes(name, wanted, 'default');
/** Replaces the components of the stack `default`. */
const change = (...others: readonly ComponentSpec[]) => s.change('default', others);
const exporterWith = (mode: ComponentSpec['mode']): ComponentSpec => ({
  ...{ name: 'node-exporter', type: 'NodeExporter', mode },
});
const prometheusWith = (mode: ComponentSpec['mode']): ComponentSpec => ({
  name: 'prometheus',
  type: 'Prometheus',
  mode,
});
/** As the operator names what it has found. */
const NAMED_EXPORTER: ComponentSpec = { ...exporterWith('External'), external: { kind: 'DaemonSet', ...EXPORTER } };
const NAMED_PROMETHEUS: ComponentSpec = {
  ...prometheusWith('External'),
  external: { kind: 'Service', ...THEIR_PROMETHEUS },
};
const MANAGED = { mode: 'Managed', external: undefined } as const;
/** Writes of what the operator would deploy. */
const ownObjects = () => ['persistentvolumeclaims', 'deployments', 'daemonsets'].flatMap(writesTo);
/** Expects the targets of the operator's Prometheus, by node. */
const areScraped = (wanted: Record<string, string>) =>
  vi.waitFor(async () => {
    const map = await s.f.client.get<V1ConfigMap>(CONFIG_MAPS, { ...PROMETHEUS, name: 'prometheus-targets' });
    const groups = JSON.parse(map.data?.['targets.json'] ?? '[]') as { targets: string[]; labels: { node: string } }[];
    expect(Object.fromEntries(groups.map(({ targets, labels }) => [labels.node, targets.join()]))).toEqual(wanted);
  }, WAIT);
const hasNoExporter = () => vi.waitFor(() => expect(i.daemonSet()).rejects.toSatisfy(isNotFound), WAIT);
const restart = () => resolvingServices(() => i.restartOperator(...FLAGS));

describe('a Prometheus that answers, and an exporter behind a proxy', () => {
  it('are found and named by the stack default of a fresh install, despite lookalikes, and none of its own is ever made', async () => {
    await vi.waitFor(async () => {
      const { metadata, spec } = await s.stack('default');
      expect(spec.components).toMatchObject([NAMED_EXPORTER, NAMED_PROMETHEUS]);
      expect(metadata?.managedFields?.map(({ manager }) => manager)).toContain('traffic-operator-discovery');
    }, WAIT);
    await s.ready('default');
    await becomes('prometheus', { mode: 'External', state: 'Ready', reason: 'Answering', uses: { fromSpec: true } });
    // The operator need not scrape it, since that Prometheus has its series.
    await becomes('node-exporter', {
      ...{ mode: 'External', state: 'Ready', reason: 'AllAvailable', uses: { kind: 'DaemonSet', ...EXPORTER } },
      message: 'uses DaemonSet monitoring/node-exporter: 1 of 1 pods are available',
    });
    await vi.waitFor(async () => {
      const events = await s.f.client.list<EventsV1Event & KubeObject>(EVENTS, { namespace: 'default' });
      const notes = events.flatMap(({ reason, note = '' }) => (reason === 'ExternalFound' ? [note] : []));
      expect(notes.map((note) => note.slice(0, note.indexOf(',')))).toEqual(
        expect.arrayContaining([
          'node-exporter uses DaemonSet monitoring/node-exporter',
          'prometheus uses Service monitoring/prometheus-operated',
        ]),
      );
    }, WAIT);
    await vi.waitFor(
      () => expect(writesTo('configmaps').map(({ name }) => name)).toContain('prometheus-targets'),
      WAIT,
    );
    expect(ownObjects()).toEqual([]);
  });

  it('that are deleted are waited for, although a lookalike is there, and are used again', async () => {
    await s.f.client.delete(DAEMONSETS, EXPORTER);
    await s.f.client.delete(SERVICES, THEIR_PROMETHEUS);
    await becomes('prometheus', {
      ...{ state: 'Degraded', reason: 'ExternalMissing', uses: { kind: 'Service', ...THEIR_PROMETHEUS } },
      message: expect.stringMatching(
        /^Service monitoring\/prometheus-operated does not exist: the operator waits for it/,
      ) as string,
    });
    await becomes('node-exporter', { state: 'Degraded', reason: 'ExternalMissing' });
    await restart();
    await installExporter();
    await createTheirService(s);
    await becomes('prometheus', { state: 'Ready', reason: 'Answering' });
    await becomes('node-exporter', { state: 'Ready', reason: 'AllAvailable' });
    expect((await s.stack('default')).spec.components).toMatchObject([NAMED_EXPORTER, NAMED_PROMETHEUS]);
    expect(ownObjects()).toEqual([]);
  });

  /** The files with the address of the Prometheus. */
  const urls = async () => {
    const maps = await s.f.client.list<V1ConfigMap>(CONFIG_MAPS, { namespace: 'default' });
    return maps.flatMap(({ data, metadata }) => (metadata?.labels?.[COMPONENT_LABEL] === 'web' ? [data?.url] : []));
  };
  const claim = async () => (await s.f.client.list(PERSISTENT_VOLUME_CLAIMS, { namespace: OPERATOR.namespace }))[0];

  it('are searched again when a user sets the mode Auto; files have the address and port, from the first one on', async () => {
    const files = { url: '${components.prometheus.addresses[0]}:${components.prometheus.ports.web}' };
    const config = [{ name: 'etc', mountPath: '/etc/web', files }];
    const web = component('web', { dependsOn: ['prometheus'], workload: { config } });
    await change(exporterWith('Auto'), { ...prometheusWith('Auto'), deadline: '5s' }, web);
    await vi.waitFor(async () => {
      const [first, second] = (await s.stack('default')).spec.components;
      expect([first, second]).toMatchObject([NAMED_EXPORTER, NAMED_PROMETHEUS]);
    }, WAIT);
    await s.ready('default');
    expect((await s.component('prometheus', 'default'))?.uses?.url).toContain('prometheus-operated.monitoring.svc');
    expect(await urls()).toEqual([`prometheus-operated.monitoring.svc:${new URL(s.f.prometheusUrl).port}`]);
    const written = writesTo('configmaps').filter(({ name, verb }) => name.startsWith('web-etc-') && verb === 'patch');
    expect(written).toHaveLength(1);
  });

  it('is reported within 10 s if it does not answer, and nothing is made in its place', async () => {
    await s.f.stopPrometheus();
    const since = performance.now();
    await becomes('prometheus', { state: 'Degraded', reason: 'ExternalUnusable' });
    const took = performance.now() - since;
    measured(`a Prometheus of another owner that does not answer is reported after ${seconds(took)}`);
    expect(took).toBeLessThan(SLACK * 10_000);
    await s.f.startPrometheus();
    await becomes('prometheus', { state: 'Ready', reason: 'Answering' });
    expect(writesTo('deployments').filter(({ name }) => name === PROMETHEUS.name)).toEqual([]);
  });

  it('with mode Managed the own one is made, with its claim, and the exporter is of no use, since it needs a token', async () => {
    const [exporterNow, metrics, web] = (await s.stack('default')).spec.components;
    await change(exporterNow!, { ...metrics!, ...MANAGED }, web!);
    await vi.waitFor(() => i.deployment(), WAIT);
    await vi.waitFor(async () => expect((await claim())?.spec?.resources?.requests).toEqual({ storage: '1Gi' }), WAIT);
    await becomes('node-exporter', {
      ...{ state: 'Degraded', reason: 'ExternalUnusable' },
      message: expect.stringMatching(/^DaemonSet monitoring\/node-exporter serves the port 9100 over HTTPS/) as string,
    });
    // Its claim has no volume here, so it is not ready, and what depends on it keeps its file.
    expect(await urls()).toEqual([expect.stringMatching(/^prometheus-operated\.monitoring\.svc:/)]);
    expect(writesTo('daemonsets')).toEqual([]);
  });

  it.each(['External', 'Disabled'] as const)('with mode %s the own one goes, and its claim stays', async (mode) => {
    const before = (await claim())?.metadata?.uid;
    await change(NAMED_EXPORTER, prometheusWith(mode));
    await vi.waitFor(() => expect(i.deployment()).rejects.toSatisfy(isNotFound), WAIT);
    await change(NAMED_EXPORTER, prometheusWith('Managed'));
    await vi.waitFor(() => i.deployment(), WAIT);
    expect((await claim())?.metadata).toMatchObject({ uid: before });
    expect(writesTo('persistentvolumeclaims').map(({ verb }) => verb)).not.toContain('delete');
  });
});

describe('an exporter that the Prometheus of the operator scrapes', () => {
  /** Without a claim, which nobody binds here. */
  const metrics: ComponentSpec = { ...prometheusWith('Managed'), prometheus: { storage: {} } };

  it('replaces the exporter of the stack, which gives the port up; it is named, scraped and not written', async () => {
    await s.f.client.delete(DAEMONSETS, EXPORTER);
    await s.f.client.delete(DAEMONSETS, FAKE);
    await change(exporterWith('Managed'), metrics);
    await s.ready('default');
    await areScraped({ [NODE]: POD_ADDRESS });
    await installExporter(PLAIN);
    await change(exporterWith('External'), metrics);
    await hasNoExporter();
    await becomes('node-exporter', {
      ...{ mode: 'External', state: 'Ready', version: 'theirs:7', uses: { kind: 'DaemonSet', ...EXPORTER } },
    });
    await areScraped({ [NODE]: NODE_ADDRESS });
    expect(writesTo('daemonsets').filter(({ namespace }) => namespace === EXPORTER.namespace)).toEqual([]);
  });

  it('when it is gone, is missed; with Managed, the stack makes its own, and keeps it with Auto and over a restart', async () => {
    await s.f.client.delete(DAEMONSETS, EXPORTER);
    await becomes('node-exporter', { state: 'Degraded', reason: 'ExternalMissing' });
    await areScraped({});
    await change(exporterWith('Managed'), metrics);
    await s.ready('default');
    await change(exporterWith('Auto'), metrics);
    await s.ready('default');
    await areScraped({ [NODE]: POD_ADDRESS });
    const before = await i.pods();
    await installExporter(PLAIN);
    await restart();
    await s.ready('default');
    expect((await s.component('node-exporter', 'default'))?.mode).toBeUndefined();
    expect(await i.pods()).toEqual(before);
    await s.f.client.delete(DAEMONSETS, EXPORTER);
  });

  it('runs without an object of the cluster, as with systemd: it is used and scraped', async () => {
    await setAddress(s.f.client, IP);
    await change(exporterWith('External'), metrics);
    await hasNoExporter();
    await startExporter();
    await becomes('node-exporter', {
      ...{ mode: 'External', uses: { kind: 'Node', namespace: '', name: NODE }, state: 'Ready', reason: 'Answering' },
      message: 'uses what listens on the port 9100 of the nodes: 1 of 1 nodes that were asked answer',
    });
    await areScraped({ [NODE]: `${IP}:9100` });
  });

  it('is named when it no longer answers, also after a restart, and is still scraped', async () => {
    await exporter!.stop();
    const wanted = {
      ...{ state: 'Degraded', reason: 'ExternalUnusable', uses: { kind: 'Node', name: NODE } },
      message: 'no node-exporter answers on the port 9100 of a node: 1 were asked',
    };
    await becomes('node-exporter', wanted);
    await restart();
    await becomes('node-exporter', wanted);
    await areScraped({ [NODE]: `${IP}:9100` });
    await startExporter();
    await becomes('node-exporter', { state: 'Ready' });
  });
});

async function startExporter(): Promise<void> {
  const listen = `--web.listen-address=${IP}:9100`;
  const log = join(s.f.controlPlane.directory, 'exporter.log');
  exporter = start(await binary('node_exporter'), [listen, '--log.level=warn'], log);
  await whenReady('node_exporter', exporter, async () => (await fetch(`http://${IP}:9100`)).ok);
}

it('nothing is refused to the operator', () => {
  expect(unusedRights(s, USER, () => false)).toEqual([]);
});
