import { objectsOf, type BuiltIn, type StandIn } from '../../contract/builtIn.ts';
import { selectorText } from '../../contract/labels.ts';
import { FIELD_MANAGER } from '../names.ts';
import type { Placement } from '../../../nodes/nodeAffinity.ts';
import type { MeasurementOptions } from '../options.ts';
import { exporterComponents, exporterSelector } from './exporter.ts';
import { foreignExporter } from './foreignExporter.ts';
import { FOREIGN_PROMETHEUS } from './foreignPrometheus.ts';
import { prometheusComponents } from './prometheus.ts';
import { prometheusRuleOf } from './rules/prometheusRule.ts';
import { exporterSettings, prometheusProblem, prometheusSettings, withExporter, withPrometheus } from './settings.ts';

const NO_PROMETHEUS =
  'with --prometheus-url (prometheus.url in the chart), the operator queries that Prometheus and deploys none';

/** Returns the built-in types node-exporter, Prometheus, and rules for an existing Prometheus. The options are the defaults of their settings. */
export function builtInsOf(options: MeasurementOptions): BuiltIn[] {
  const inNamespaces = (standIn: StandIn): StandIn => ({ ...standIn, namespaces: options.discoveryNamespaces });
  return [
    {
      type: 'NodeExporter',
      fieldManager: FIELD_MANAGER,
      isDeployed: options.exporter.enabled,
      settings: { nodeExporter: exporterSettings(options) },
      render: ({ nodeExporter }, common) =>
        objectsOf('exporter', exporterComponents(withExporter(options, nodeExporter, common))),
      standIn({ nodeExporter }) {
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
      standIn: () => ({ ...inNamespaces(FOREIGN_PROMETHEUS), placement: placementOf(options.exporter) }),
    },
    { type: 'Rules', isDeployed: false, render: ({ rules }) => [prometheusRuleOf(rules, options.namespace)] },
  ];
}

/** Returns the nodes on which the flags, or the settings of a component, place node-exporter: the proof of a found workload counts no others. */
function placementOf({ nodeSelector, affinity }: MeasurementOptions['exporter']): Placement {
  return { nodeSelector, ...(affinity !== undefined && { affinity }) };
}
