import { applyObjects, kubectl } from './kubectl.ts';

/** A monitoring that does not belong to the operator: node-exporters, and a Prometheus that scrapes them by address. */
const NAMESPACE = 'monitoring';
/** The operator's own exporter uses 9100. */
const PORT = 9101;
/** The value of `prometheus.url`. */
export const OTHER_PROMETHEUS = `http://prometheus.${NAMESPACE}.svc:9090`;

const metadata = (name: string): object => ({ name, namespace: NAMESPACE });
const selectorOf = (app: string): object => ({ matchLabels: { app } });

function template(app: string, spec: object): object {
  return { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 1, ...spec } };
}

function exporter(): object {
  const container = {
    name: 'node-exporter',
    image: 'quay.io/prometheus/node-exporter:v1.12.1',
    args: [`--web.listen-address=:${PORT}`],
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

/** @param addresses of the nodes, which become the label `instance`; there is no label `node` */
export async function installOtherMonitoring(addresses: readonly string[]): Promise<void> {
  const targets = addresses.map((address) => `${address}:${PORT}`);
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
      metadata: metadata('prometheus'),
      spec: { selector: { app: 'prometheus' }, ports: [{ port: 9090 }] },
    },
    exporter(),
    prometheus(),
  ]);
}

/** Waits until the exporters and Prometheus are ready. */
export async function otherMonitoringReady(): Promise<void> {
  for (const each of ['daemonset/node-exporter', 'deployment/prometheus'])
    await kubectl('rollout', 'status', each, '-n', NAMESPACE, '--timeout=60s');
}
