import type { EventsV1Event, V1CustomResourceDefinition } from '@kubernetes/client-node';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import type { Client } from '../../src/runtime/client/client.ts';
import { DEPLOYMENTS, EVENTS, NODES } from '../../src/runtime/client/resources.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './controlPlane.ts';
import { POD_PLACEMENTS } from '../../src/api/podplacement/schema.ts';
import { installCrd, podPlacementCrd } from './customResource.ts';
import { startOperator, type Operator } from './operator.ts';
import { startPrometheus, type RunningPrometheus } from './prometheus.ts';
import { connect } from './runtimeScene.ts';
import { startSyntheticExporter, type SyntheticExporter } from './syntheticExporter.ts';

const PERSON = { fieldManager: 'person' };

/** A control plane with the CRD and Node objects, a Prometheus over a synthetic exporter, and operators on demand. */
export interface Fixture {
  readonly controlPlane: ControlPlane;
  readonly client: Client;
  readonly exporter: SyntheticExporter;
  readonly prometheusUrl: string;
  operator(): Operator;
  /**
   * @param over another user than the administrator, another Prometheus than the fixture's (undefined: the
   *   operator deploys one), waiting only until it is alive, another program than the sources, another pace, or another command
   */
  startOperator(
    args?: readonly string[],
    over?: {
      kubeconfig?: string;
      prometheusUrl?: string | undefined;
      until?: 'ready' | 'alive';
      main?: string;
      pace?: readonly string[];
      command?: 'manager' | 'trafficweights';
    },
  ): Promise<Operator>;
  stopOperator(): Promise<unknown>;
  restartOperator(): Promise<unknown>;
  startPrometheus(): Promise<void>;
  stopPrometheus(): Promise<void>;
  addNode(name: string): Promise<void>;
  removeNode(name: string): Promise<void>;
  setLabels(node: string, labels: Record<string, string | null>): Promise<unknown>;
  annotateNode(node: string, annotations: Record<string, string | null>): Promise<unknown>;
  /** Value by node name, for nodes with the key. */
  labels(key: string): Promise<Record<string, string>>;
  /** resourceVersion by node name. */
  nodeVersions(): Promise<Record<string, string | undefined>>;
  /** With a Deployment of its own, unless the spec names another workload. */
  createWatch(name: string, spec: Omit<TrafficWatch['spec'], 'deployment'>): Promise<void>;
  /** With this very spec. */
  createRawWatch(name: string, spec: object): Promise<void>;
  deleteWatch(name: string): Promise<unknown>;
  patchWatch(name: string, patch: unknown): Promise<unknown>;
  watch(name: string): Promise<TrafficWatch>;
  events(name: string): Promise<EventsV1Event[]>;
  createForeignDeployment(name: string): Promise<unknown>;
  stop(): Promise<void>;
}

function deploymentSpec(app: string) {
  const template = {
    metadata: { labels: { app, tier: 'front' } },
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
  };
  return { selector: { matchLabels: { app } }, template };
}

const prometheusConfig = (target: string) => ({
  global: { scrape_interval: '1s', scrape_timeout: '1s' },
  scrape_configs: [{ job_name: 'nodes', static_configs: [{ targets: [target] }] }],
});

/** Starts everything except an operator, with the CRD of deploy/, another CRD or none. Every node sends at 1 %. */
export async function startFixture(options: {
  nodes: readonly string[];
  crd?: V1CustomResourceDefinition | 'none';
  /** An object of kind Policy (audit.k8s.io/v1); see ControlPlaneOptions. */
  auditPolicy?: object;
  /** Other options of the control plane. */
  plane?: ControlPlaneOptions;
  /** Samples have times, so that a scrape may fail; see startSyntheticExporter. */
  withTimes?: boolean;
}): Promise<Fixture> {
  const { auditPolicy, plane, withTimes } = options;
  const controlPlane = await startControlPlane({ ...plane, ...(auditPolicy && { auditPolicy }) });
  const exporter = await startSyntheticExporter({ withTimes });
  const { client, transport } = connect(controlPlane);
  const startServer = (port?: number): Promise<RunningPrometheus> =>
    startPrometheus({ config: prometheusConfig(exporter.target), port });
  let prometheus = await startServer();
  const port = Number(new URL(prometheus.url).port);
  let operator: Operator | undefined;
  const default_ = (name: string) => ({ namespace: 'default', name });
  const patchNode = (name: string, metadata: unknown): Promise<unknown> =>
    client.mergePatch(NODES, { name }, { metadata }, PERSON);

  const f: Fixture = {
    controlPlane,
    client,
    exporter,
    prometheusUrl: prometheus.url,
    operator: () => operator!,
    startOperator: async (args, over) => {
      const { kubeconfig } = controlPlane;
      operator = await startOperator({ kubeconfig, prometheusUrl: prometheus.url, args, ...over });
      return operator;
    },
    stopOperator: async () => operator?.terminate(),
    restartOperator: async () => {
      await f.stopOperator();
      await f.startOperator();
    },
    startPrometheus: async () => {
      prometheus = await startServer(port);
    },
    stopPrometheus: () => prometheus.stop(),
    // With a label, as a kubelet creates it: the API server stores no managedFields for an object that is created
    // without fields.
    addNode: async (name) => {
      const labels = { 'kubernetes.io/hostname': name };
      await client.create(NODES, { metadata: { name, labels } });
    },
    removeNode: (name) => client.delete(NODES, { name }),
    setLabels: (name, labels) => patchNode(name, { labels }),
    annotateNode: (name, annotations) => patchNode(name, { annotations }),
    labels: async (key) =>
      Object.fromEntries(
        (await client.list(NODES)).flatMap((n) => {
          const value = n.metadata?.labels?.[key];
          return value === undefined ? [] : [[n.metadata?.name ?? '', value]];
        }),
      ),
    nodeVersions: async () =>
      Object.fromEntries((await client.list(NODES)).map((n) => [n.metadata?.name ?? '', n.metadata?.resourceVersion])),
    createWatch: async (name, spec) => {
      const isForeign = spec.targetRef !== undefined || spec.podSelector !== undefined;
      const deployment = deploymentSpec(name) as TrafficWatch['spec']['deployment'];
      await f.createRawWatch(name, isForeign ? spec : { ...spec, deployment });
    },
    createRawWatch: async (name, spec) => {
      await client.create(TRAFFIC_WATCHES, { metadata: default_(name), spec: spec as TrafficWatch['spec'] });
    },
    deleteWatch: (name) => client.delete(TRAFFIC_WATCHES, default_(name)),
    patchWatch: (name, patch) => client.mergePatch(TRAFFIC_WATCHES, default_(name), patch, PERSON),
    watch: (name) => client.get(TRAFFIC_WATCHES, default_(name)),
    events: async (name) =>
      (await client.list(EVENTS, { namespace: 'default' })).filter((e) => e.regarding?.name === name),
    createForeignDeployment: (name) =>
      client.create(DEPLOYMENTS, { metadata: default_(name), spec: deploymentSpec(name) }),
    stop: async () => {
      await operator?.kill();
      await transport.close();
      await prometheus.stop();
      await exporter.stop();
      await controlPlane.stop();
    },
  };
  if (options.crd !== 'none') await installCrd(client, options.crd);
  if (options.crd !== 'none') await installCrd(client, podPlacementCrd(), POD_PLACEMENTS);
  for (const node of options.nodes) {
    exporter.setPercent(node, 1);
    await f.addNode(node);
  }
  return f;
}
