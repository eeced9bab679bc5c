import { objectsOf, type BuiltIn, type ExternalProvider } from '../../contract/builtIn.ts';
import { selectorText } from '../../contract/labels.ts';
import { FIELD_MANAGER } from '../names.ts';
import type { Placement } from '../../../nodes/nodeAffinity.ts';
import type { MeasurementOptions } from '../options.ts';
import { exporterComponents, exporterSelector } from './exporter.ts';
import { foreignExporter } from './foreignExporter.ts';
import { prometheusComponents } from './prometheus.ts';
import { prometheusRuleOf } from './rules/prometheusRule.ts';
import { exporterSettings, prometheusProblem, prometheusSettings, withExporter, withPrometheus } from './settings.ts';
import type { V1Service } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { SERVICES } from '../../../runtime/client/resources.ts';

const NO_PROMETHEUS =
  'with --prometheus-url (prometheus.url in the chart), the operator queries that Prometheus and deploys none';

/** Returns the built-in types node-exporter, Prometheus, and rules for an existing Prometheus. The options are the defaults of their settings. */
export function builtInsOf(options: MeasurementOptions): BuiltIn[] {
  const inNamespaces = (externalProvider: ExternalProvider): ExternalProvider => ({
    ...externalProvider,
    namespaces: options.discoveryNamespaces,
  });
  return [
    {
      type: 'NodeExporter',
      fieldManager: FIELD_MANAGER,
      isDeployed: options.exporter.enabled,
      settings: { nodeExporter: exporterSettings(options) },
      render: ({ nodeExporter }, common) =>
        objectsOf('exporter', exporterComponents(withExporter(options, nodeExporter, common))),
      externalProvider({ nodeExporter }) {
        const { exporter } = withExporter(options, nodeExporter);
        const ownPods = selectorText(exporterSelector(options.namespace));
        const found = foreignExporter(exporter.port, options.prometheus.enabled, ownPods);
        return { ...inNamespaces(found), placement: placementOf(exporter) };
      },
    },
    {
      type: 'Prometheus',
      fieldManager: FIELD_MANAGER,
      isDeployed: options.prometheus.enabled,
      problem: options.prometheus.enabled ? undefined : NO_PROMETHEUS,
      problemOf: ({ prometheus }) => prometheusProblem(options, prometheus),
      settings: { prometheus: prometheusSettings(options) },
      render: ({ prometheus }, common) =>
        objectsOf('prometheus', prometheusComponents(withPrometheus(options, prometheus, common))),
      externalProvider: () => ({ ...inNamespaces(FOREIGN_PROMETHEUS), placement: placementOf(options.exporter) }),
    },
    { type: 'Rules', isDeployed: false, render: ({ rules }) => [prometheusRuleOf(rules, options.namespace)] },
  ];
}

/** Returns the nodes on which the flags, or the settings of a component, place node-exporter: the proof of a found workload counts no others. */
function placementOf({ nodeSelector, affinity }: MeasurementOptions['exporter']): Placement {
  return { nodeSelector, ...(affinity !== undefined && { affinity }) };
}

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
export const FOREIGN_PROMETHEUS: ExternalProvider = {
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
