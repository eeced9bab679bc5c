import type { V1Service } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { SERVICES } from '../../../runtime/client/resources.ts';
import type { StandIn } from '../../contract/builtIn.ts';

/**
 * Select the Service that prometheus-operator creates in each namespace with a Prometheus, as for kube-prometheus and the helm
 * chart kube-prometheus-stack; and the Service of the helm chart prometheus.
 *
 * Sources: `pkg/prometheus/server/statefulset.go` of prometheus-operator (MakeStatefulSetService, `operated-prometheus`); `_helpers.tpl`
 * of charts/prometheus of prometheus-community (the labels of the server).
 */
const SELECTORS = ['operated-prometheus=true', 'app.kubernetes.io/name=prometheus,app.kubernetes.io/component=server'];
/** Names of the API port in these Services. In others the number identifies it. */
const PORT_NAMES: readonly (string | undefined)[] = ['web', 'http-web', 'http'];
const STANDARD_PORT = 9090;

/**
 * Finds a Prometheus that the stack does not manage: a Service, since queries go to a Service. It is usable if it has the series that a pass
 * queries. Queries use HTTP without credentials.
 */
export const FOREIGN_PROMETHEUS: StandIn = {
  resource: SERVICES,
  sought: 'a Service of prometheus-operator or of the helm chart prometheus',
  matches: (live) => portOf(live) !== undefined,
  mismatch: `has no port of a Prometheus: it needs the name web, http-web or http, or the number ${STANDARD_PORT}; or set external.url`,
  // The object does not show whether it is usable: the probe does.
  problem: () => undefined,
  probe: {
    selectors: SELECTORS,
    metric: 'node_network_transmit_bytes_total',
    series: 'series of node-exporter',
    urlOf: (live) => `http://${live.metadata?.name}.${live.metadata?.namespace}.svc:${portOf(live)}`,
  },
};

/** Returns the port of the API. The ports of an ExternalName Service have no effect. */
function portOf(live: KubeObject): number | undefined {
  const { type, ports = [] } = (live as V1Service).spec ?? {};
  if (type === 'ExternalName') return undefined;
  const byName = ports.find(({ name }) => PORT_NAMES.includes(name));
  const byNumber = ports.find(({ port }) => port === STANDARD_PORT);
  return (byName ?? byNumber)?.port;
}
