import { connect, createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { V1OwnerReference } from '@kubernetes/client-node';
import type { KubeObject, Resource } from '../../../src/runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, PODS } from '../../../src/runtime/client/resources.ts';
import { AUDIT_OF_USERS } from '../../harness/audit.ts';
import { type Fixture, startFixture } from '../../harness/fixture.ts';
import { kubeconfigOf } from '../../harness/kubectl.ts';
import { until } from '../../harness/measured.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { type Cluster, clusterOf } from '../cluster.ts';

export const NAMESPACE = 'traffic-operator-system';
export const OPERATOR = { namespace: NAMESPACE, name: 'traffic-operator' };
export const EXPORTER = { namespace: `${NAMESPACE}-node-exporter`, name: 'node-exporter' };
export const PROMETHEUS = { namespace: NAMESPACE, name: 'prometheus' };
/** The chart of the commit: `git archive --format=tgz b54efd4d:charts`. */
export const EARLIER_CHART = fileURLToPath(new URL('../testdata/traffic-operator-b54efd4d.tgz', import.meta.url));
/** The objects that the operator of that commit made with these values: see record.ts. */
export const EARLIER_OBJECTS = new URL('../testdata/traffic-operator-b54efd4d.json', import.meta.url);
/** The default values, but for the pace. */
const VALUES = 'scrapeInterval=1s,interval=1s,window=5s';
/** n1 is above the threshold of the TrafficWatch. */
export const PERCENTS = { n1: 60, n2: 1 };

const RESOLVE = `--import=${new URL('../../harness/resolveServices.ts', import.meta.url).href}`;
/** The port of the Service of Prometheus. */
const PROMETHEUS_PORT = 9090;
const REPLICASETS: Resource = {
  ...{ group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets', namespaced: true },
};
const KUBELET = { fieldManager: 'kubelet', subresource: 'status' };

type SetEnv = (name: string, value: string) => unknown;

interface Status {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** A release of the chart on a real API server, without controllers and pods: the real Prometheus of the fixture is behind its Service. */
export class Release {
  readonly f: Fixture;
  readonly cluster: Cluster;
  readonly #forward: Server;
  readonly #setEnv: SetEnv;

  private constructor(f: Fixture, cluster: Cluster, forward: Server, setEnv: SetEnv) {
    [this.f, this.cluster, this.#forward, this.#setEnv] = [f, cluster, forward, setEnv];
  }

  /** Starts everything but the operator. @param setEnv sets a variable of the processes that are started */
  static async start(setEnv: SetEnv): Promise<Release> {
    const f = await startFixture({ nodes: Object.keys(PERCENTS), crd: 'none', auditPolicy: AUDIT_OF_USERS });
    for (const [node, percent] of Object.entries(PERCENTS)) f.exporter.setPercent(node, percent);
    const { server, address } = await forwardTo(Number(new URL(f.prometheusUrl).port));
    setEnv('TRAFFIC_OPERATOR_TEST_SERVICES', address);
    return new Release(f, await clusterOf(f.controlPlane), server, setEnv);
  }

  async stop(): Promise<void> {
    this.#forward.close();
    await this.f.stop();
  }

  /** Installs or upgrades the release. */
  async install(chart: string): Promise<void> {
    const args = ['upgrade', '--install', 'traffic-operator', chart, '-n', NAMESPACE, '--create-namespace'];
    const done = await this.cluster.helm('helm', ...args, '--set', VALUES, '--timeout=120s');
    if (!done.ok) throw new Error(`helm ${args.join(' ')}: ${done.text}`);
  }

  /** Creates a pod of the operator, whose Deployment owns objects in its namespace. */
  async createOperatorPod(): Promise<void> {
    const { client } = this.f;
    const deployment = await client.get(DEPLOYMENTS, OPERATOR);
    const { selector, template } = deployment.spec!;
    const { labels } = template.metadata ?? {};
    const metadata = { ...OPERATOR, labels };
    const replicaSet = await client.create(REPLICASETS, {
      metadata: { ...metadata, ownerReferences: [ownedBy(deployment, 'Deployment')] },
      spec: { replicas: 0, selector, template },
    } as KubeObject);
    const ownerReferences = [ownedBy(replicaSet, 'ReplicaSet')];
    await client.create(PODS, { metadata: { ...metadata, ownerReferences }, spec: template.spec });
    this.#setEnv('POD_NAME', OPERATOR.name);
  }

  /** Starts an operator with the rights and the arguments that the release gives it now. @param main of another version */
  async startOperator(main?: string): Promise<void> {
    const { spec } = await this.f.client.get(DEPLOYMENTS, OPERATOR);
    const args = spec?.template.spec?.containers[0]?.args ?? [];
    const ofRelease = args.filter((arg) => !/^manager$|^--(health-probe|metrics)-bind-address\b/.test(arg));
    const kubeconfig = await kubeconfigOf(this.f.controlPlane, OPERATOR.name, NAMESPACE);
    const over = { kubeconfig, prometheusUrl: undefined, pace: [], until: 'alive' as const, ...(main && { main }) };
    await withNodeOptions(RESOLVE, () => this.f.startOperator(ofRelease, over));
  }

  /** All workloads of the measurement are available, as their controllers report once their pods run. */
  async reportAvailable(): Promise<void> {
    const { client } = this.f;
    const deployment = await client.get(DEPLOYMENTS, PROMETHEUS);
    const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const condition = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' };
    const ofDeployment = { ...one, observedGeneration: deployment.metadata?.generation, conditions: [condition] };
    await client.mergePatch(DEPLOYMENTS, PROMETHEUS, { status: ofDeployment }, KUBELET);
    const daemonSet = await client.get(DAEMONSETS, EXPORTER);
    const count = Object.keys(PERCENTS).length;
    const scheduled = { currentNumberScheduled: count, desiredNumberScheduled: count, updatedNumberScheduled: count };
    const ofDaemonSet = {
      ...{ ...scheduled, numberMisscheduled: 0, numberReady: count, numberAvailable: count, numberUnavailable: 0 },
      observedGeneration: daemonSet.metadata?.generation,
    };
    await client.mergePatch(DAEMONSETS, EXPORTER, { status: ofDaemonSet }, KUBELET);
  }

  /** Until the stack `default` and the TrafficWatch are ready with their present specs. */
  async ready(): Promise<void> {
    await until('stack and TrafficWatch are ready', async () => {
      await this.reportAvailable().catch(() => undefined);
      const both = await Promise.all(['trafficstack/default', 'trafficwatch/web'].map((id) => this.#isReady(id)));
      return both.every(Boolean);
    });
  }

  async #isReady(id: string): Promise<boolean> {
    const { metadata, status = {} } = (await this.read(id)) as { metadata: { generation?: number }; status?: Status };
    const { observedGeneration, conditions = [] } = status;
    const isReady = conditions.some((each) => each.type === 'Ready' && each.status === 'True');
    return isReady && observedGeneration === metadata.generation;
  }

  /** Reads an object of the namespace `default`, or of the cluster. */
  async read(id: string): Promise<object> {
    const { ok, text } = await this.cluster.kubectl(['get', id, '-n', 'default', '-ojson']);
    if (!ok) throw new Error(`no ${id}: ${text}`);
    return JSON.parse(text) as object;
  }
}

function ownedBy({ metadata }: KubeObject, kind: string): V1OwnerReference {
  return { apiVersion: 'apps/v1', kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '', controller: true };
}

/** The names of Services lead to an address of loopback that no other test has. There the port of Prometheus leads to `port`. */
async function forwardTo(port: number): Promise<{ server: Server; address: string }> {
  const part = (): number => 1 + Math.floor(Math.random() * 250);
  const address = `127.${part()}.${part()}.${part()}`;
  const server = createServer((socket) => {
    const to = connect(port, '127.0.0.1');
    for (const each of [socket, to]) each.on('error', () => void (socket.destroy(), to.destroy()));
    socket.pipe(to).pipe(socket);
  });
  server.listen(PROMETHEUS_PORT, address).unref();
  await once(server, 'listening');
  return { server, address };
}
