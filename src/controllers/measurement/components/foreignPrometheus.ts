import type { V1Service } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { SERVICES } from '../../../runtime/client/resources.ts';
import type { StandIn } from '../../contract/builtIn.ts';

/**
 * The Service that prometheus-operator makes in each namespace with a Prometheus, as of kube-prometheus and the helm chart
 * kube-prometheus-stack; and that of the helm chart prometheus.
 *
 * Sources: `pkg/prometheus/server/statefulset.go` of prometheus-operator (MakeStatefulSetService, `operated-prometheus`); `_helpers.tpl`
 * of charts/prometheus of prometheus-community (the labels of the server).
 */
const SELECTORS = ['operated-prometheus=true', 'app.kubernetes.io/name=prometheus,app.kubernetes.io/component=server'];
/** Names of the port of the API in these. Of others it is the number. */
const PORT_NAMES: readonly (string | undefined)[] = ['web', 'http-web', 'http'];
const STANDARD_PORT = 9090;

/**
 * The Prometheus of somebody else: a Service, since that is what is asked. It is of use if it has what a pass asks for. It is asked without
 * credentials, and over HTTP.
 */
export const FOREIGN_PROMETHEUS: StandIn = {
  resource: SERVICES,
  sought: 'a Service of prometheus-operator or of the helm chart prometheus',
  matches: (live) => portOf(live) !== undefined,
  // Its object shows nothing: the probe tells.
  problem: () => undefined,
  probe: {
    selectors: SELECTORS,
    metric: 'node_network_transmit_bytes_total',
    series: 'series of node-exporter',
    urlOf: (live) => `http://${live.metadata?.name}.${live.metadata?.namespace}.svc:${portOf(live)}`,
  },
};

/** Of an ExternalName there is none that has to do with the Service. */
function portOf(live: KubeObject): number | undefined {
  const { type, ports = [] } = (live as V1Service).spec ?? {};
  if (type === 'ExternalName') return undefined;
  const byName = ports.find(({ name }) => PORT_NAMES.includes(name));
  const byNumber = ports.find(({ port }) => port === STANDARD_PORT);
  return (byName ?? byNumber)?.port;
}
