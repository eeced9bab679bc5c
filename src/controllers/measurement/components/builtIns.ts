import type { NodeExporterSpec, PrometheusSpec } from '../../../api/trafficstack/trafficStack.ts';
import { given, objectsOf, type BuiltIn } from '../../contract/builtIn.ts';
import { FIELD_MANAGER } from '../names.ts';
import type { MeasurementOptions } from '../options.ts';
import { exporterComponents } from './exporter.ts';
import { foreignExporter } from './foreignExporter.ts';
import { FOREIGN_PROMETHEUS } from './foreignPrometheus.ts';
import { prometheusComponents } from './prometheus.ts';
import { prometheusRuleOf } from './rules/prometheusRule.ts';

const NO_PROMETHEUS =
  'with --prometheus-url (prometheus.url in the chart), the operator queries that Prometheus and deploys none';

/** node-exporter and Prometheus, and the rules for another one, as TrafficStacks may have them. The options are the defaults of their settings. */
export function builtInsOf(options: MeasurementOptions): BuiltIn[] {
  return [
    {
      type: 'NodeExporter',
      fieldManager: FIELD_MANAGER,
      isDeployed: options.exporter.enabled,
      render: ({ nodeExporter }) => objectsOf('exporter', exporterComponents(withExporter(options, nodeExporter))),
      standIn: ({ nodeExporter }) =>
        foreignExporter(withExporter(options, nodeExporter).exporter.port, options.prometheus.enabled),
    },
    {
      type: 'Prometheus',
      fieldManager: FIELD_MANAGER,
      isDeployed: options.prometheus.enabled,
      problem: options.prometheus.enabled ? undefined : NO_PROMETHEUS,
      render: ({ prometheus }) => objectsOf('prometheus', prometheusComponents(withPrometheus(options, prometheus))),
      standIn: () => FOREIGN_PROMETHEUS,
    },
    { type: 'Rules', isDeployed: false, render: ({ rules }) => [prometheusRuleOf(rules, options.namespace)] },
  ];
}

function withExporter(options: MeasurementOptions, settings: NodeExporterSpec = {}): MeasurementOptions {
  return { ...options, exporter: { ...options.exporter, ...given(settings) } };
}

function withPrometheus(options: MeasurementOptions, settings: PrometheusSpec = {}): MeasurementOptions {
  return { ...options, prometheus: { ...options.prometheus, ...given(settings) } };
}
