import { z } from 'zod';
import { anyList, anyMap, optionalDuration, stringMap } from './shapes.ts';

const serviceMonitor = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Create a ServiceMonitor. It requires the CRDs of the Prometheus operator.'),
    labels: stringMap
      .default({})
      .describe('Labels of the ServiceMonitor that a Prometheus selects, such as release: kube-prometheus-stack.'),
    interval: optionalDuration.default('').describe('Scrape interval; empty: the default of Prometheus.'),
    scrapeTimeout: optionalDuration.default('').describe('Scrape timeout; empty: the default of Prometheus.'),
    tlsConfig: anyMap
      .default({})
      .describe(
        'With metrics.secure: TLS configuration of the scrape. The certificate must contain the name of the Service.',
      ),
    relabelings: anyList.default([]).describe('Relabelings of the target.'),
    metricRelabelings: anyList.default([]).describe('Relabelings of the scraped samples.'),
  })
  .prefault({})
  .describe('ServiceMonitor of the Prometheus operator for these metrics.');

/** Rules for a Prometheus of the Prometheus operator. */
export const prometheusRule = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Create a PrometheusRule. It requires the CRDs of the Prometheus operator.'),
    labels: stringMap
      .default({})
      .describe('Labels of the PrometheusRule that a Prometheus selects, such as release: kube-prometheus-stack.'),
  })
  .prefault({})
  .describe("PrometheusRule of the Prometheus operator with this project's recording and alerting rules.");

/** Ingress to the pods of the release. */
export const networkPolicy = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Allow only the ingress that is listed here. Off by default because it would block a Prometheus or Grafana that ' +
          'is not listed. NetworkPolicies do not apply to node-exporter, which uses hostNetwork: protect its port with ' +
          'the firewall of the nodes.',
      ),
    metricsFrom: anyList
      .default([])
      .describe(
        'Additional clients that may scrape the operator, besides the deployed Prometheus: a list of NetworkPolicyPeers, such as ' +
          '{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}.',
      ),
    prometheusFrom: anyList
      .default([])
      .describe(
        'Additional clients that may query the deployed Prometheus, such as Grafana: a list of NetworkPolicyPeers.',
      ),
  })
  .prefault({})
  .describe('NetworkPolicies for ingress to the operator and to the Prometheus that it deploys.');

/** The operator's own metrics, and access to them. */
export const metrics = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Serve /metrics and create a Service for it.'),
    port: z.int().min(1).max(65535).default(8080).describe('TCP port of /metrics.'),
    secure: z
      .boolean()
      .default(false)
      .describe(
        'Serve /metrics over HTTPS, and only to clients that may get the non-resource URL /metrics. It requires ' +
          'certSecret. The deployed Prometheus has no token and then does not scrape the operator.',
      ),
    certSecret: z
      .string()
      .default('')
      .describe('Secret of type kubernetes.io/tls with the certificate for metrics.secure.'),
    service: z
      .strictObject({
        labels: stringMap.default({}).describe('Labels of the Service.'),
        annotations: stringMap.default({}).describe('Annotations of the Service.'),
      })
      .prefault({})
      .describe('The Service.'),
    serviceMonitor,
  })
  .prefault({})
  .describe("The operator's own metrics.");
