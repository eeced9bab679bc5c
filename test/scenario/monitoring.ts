import type { V1Node } from '@kubernetes/client-node';
import { until } from '../harness/measured.ts';
import { getRaw } from './api.ts';
import { applyObjects, getObject, kubectl } from './kubectl.ts';

/** A monitoring that does not belong to the operator: node-exporters, and a Prometheus that scrapes them by address. */
const NAMESPACE = 'monitoring';
/** The operator's own exporter uses 9100. */
const OTHER_PORT = 9101;
/** The Service that prometheus-operator makes (pkg/prometheus/server/statefulset.go, MakeStatefulSetService). */
export const OTHER_SERVICE = 'prometheus-operated';
/** The value of `prometheus.url`. */
export const OTHER_PROMETHEUS = `http://${OTHER_SERVICE}.${NAMESPACE}.svc:9090`;

const metadata = (name: string): object => ({ name, namespace: NAMESPACE });
const selectorOf = (app: string): object => ({ matchLabels: { app } });

function template(app: string, spec: object): object {
  return { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 1, ...spec } };
}

function exporter(port: number): object {
  const container = {
    name: 'node-exporter',
    image: 'quay.io/prometheus/node-exporter:v1.12.1',
    args: [`--web.listen-address=:${port}`],
  };
  const spec = { hostNetwork: true, containers: [container] };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadata('node-exporter'),
    spec: { selector: selectorOf('node-exporter'), template: template('node-exporter', spec) },
  };
}

function prometheus(): object {
  const container = {
    name: 'prometheus',
    image: 'quay.io/prometheus/prometheus:v3.15.0',
    ports: [{ name: 'web', containerPort: 9090 }],
    volumeMounts: [{ name: 'config', mountPath: '/etc/prometheus' }],
    readinessProbe: { httpGet: { path: '/-/ready', port: 9090 }, periodSeconds: 2 },
  };
  const spec = { containers: [container], volumes: [{ name: 'config', configMap: { name: 'prometheus' } }] };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata('prometheus'),
    spec: { selector: selectorOf('prometheus'), template: template('prometheus', spec) },
  };
}

/**
 * Installs it, with a Service as in a cluster with kube-prometheus: headless, and with the label of prometheus-operator.
 *
 * @param addresses of the nodes, which become the label `instance`; there is no label `node`
 * @param port of the exporters
 */
export async function installOtherMonitoring(addresses: readonly string[], port = OTHER_PORT): Promise<void> {
  const targets = addresses.map((address) => `${address}:${port}`);
  const config = {
    global: { scrape_interval: '5s', scrape_timeout: '5s' },
    scrape_configs: [{ job_name: 'nodes', static_configs: [{ targets }] }],
  };
  await applyObjects([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: metadata('prometheus'),
      data: { 'prometheus.yml': JSON.stringify(config) },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...metadata(OTHER_SERVICE), labels: { 'operated-prometheus': 'true' } },
      spec: {
        clusterIP: 'None',
        selector: { app: 'prometheus' },
        ports: [{ name: 'web', port: 9090, targetPort: 'web' }],
      },
    },
    exporter(port),
    prometheus(),
  ]);
}

/** Waits until that Prometheus has series of all exporters: it is ready before its first scrape. */
export async function otherMonitoringScrapes(nodes: number): Promise<void> {
  const query = new URLSearchParams({ query: 'count(count by (instance) (node_network_transmit_bytes_total))' });
  const path = `/api/v1/namespaces/${NAMESPACE}/services/${OTHER_SERVICE}:9090/proxy/api/v1/query?${query.toString()}`;
  await until('the other monitoring has scraped all nodes', async () => {
    const { data } = JSON.parse(await getRaw(path)) as {
      data: { result: { value: [number, string] }[] };
    };
    return data.result[0]?.value[1] === `${nodes}`;
  });
}

/** The addresses of all nodes. */
export async function nodeAddresses(): Promise<string[]> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  return items.map(({ status }) => status!.addresses!.find(({ type }) => type === 'InternalIP')!.address);
}

/** Waits until the exporters and Prometheus are ready. */
export async function otherMonitoringReady(): Promise<void> {
  for (const each of ['daemonset/node-exporter', 'deployment/prometheus'])
    await kubectl('rollout', 'status', each, '-n', NAMESPACE, '--timeout=300s');
}
