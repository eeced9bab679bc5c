/** Objects of the kinds that the operator may update and delete, for tests of which of them it may. */

const TEMPLATE = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } };
const SELECTOR = { matchLabels: { app: 'web' } };
const WORKLOAD = { spec: { selector: SELECTOR, template: TEMPLATE } };

/** A kind, and an object of it under a name that the chart's roles let the operator write. */
export interface Example {
  readonly api: string;
  readonly plural: string;
  /** Undefined for a kind of the whole cluster. */
  readonly namespace?: string;
  readonly name: string;
  /** All but the metadata. */
  readonly content: object;
}

const example = (api: string, plural: string, content: object, namespace = 'shop', name = 'web'): Example => ({
  ...{ api, plural, content, name },
  ...(namespace !== '' && { namespace }),
});

/** By kind. The operator's namespace is `network`. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  Deployment: example('/apis/apps/v1', 'deployments', WORKLOAD),
  StatefulSet: example('/apis/apps/v1', 'statefulsets', { spec: { ...WORKLOAD.spec, serviceName: 'web' } }),
  DaemonSet: example('/apis/apps/v1', 'daemonsets', WORKLOAD),
  ControllerRevision: example('/apis/apps/v1', 'controllerrevisions', { revision: 1, data: {} }),
  Service: example('/api/v1', 'services', { spec: { ports: [{ port: 80 }] } }),
  ConfigMap: example('/api/v1', 'configmaps', {}),
  PodDisruptionBudget: example('/apis/policy/v1', 'poddisruptionbudgets', {
    spec: { maxUnavailable: 1, selector: SELECTOR },
  }),
  PrometheusRule: example('/apis/monitoring.coreos.com/v1', 'prometheusrules', { spec: { groups: [] } }),
  DNSEndpoint: example('/apis/externaldns.k8s.io/v1alpha1', 'dnsendpoints', { spec: { endpoints: [] } }),
  TrafficWeight: example(
    '/apis/traffic.example.com/v1alpha1',
    'trafficweights',
    { spec: { clusterName: 'one', bindingDomain: 'example.org', backend: { static: { weight: 75 } } } },
    '',
  ),
  // Those that the roles name.
  ServiceAccount: example('/api/v1', 'serviceaccounts', {}, 'shop', 'node-exporter'),
  PersistentVolumeClaim: example(
    '/api/v1',
    'persistentvolumeclaims',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    'network',
    'prometheus',
  ),
  Namespace: example('/api/v1', 'namespaces', {}, '', 'network-connectivity'),
};

/** The path of objects of a kind. */
export function collectionOf({ api, plural, namespace }: Example): string {
  return `${api}/${namespace === undefined ? '' : `namespaces/${namespace}/`}${plural}`;
}

/** The path of an object. */
export function pathOf(each: Example, name = each.name): string {
  return `${collectionOf(each)}/${name}`;
}

/** A manifest. */
export function objectOf(kind: string, metadata: object = {}): object {
  const { api, name, namespace, content } = EXAMPLES[kind]!;
  const apiVersion = api.replace(/^\/apis?\//, '');
  return { ...{ apiVersion, kind, ...content }, metadata: { name, ...(namespace && { namespace }), ...metadata } };
}
