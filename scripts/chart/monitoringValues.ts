import { z } from 'zod';
import { anyList, anyMap, optionalDuration, stringMap } from './shapes.ts';

const serviceMonitor = z
  .strictObject({
    enabled: z.boolean().default(false).describe('Create it; the CRDs of the Prometheus operator must be there.'),
    labels: stringMap
      .default({})
      .describe('Labels on it, by which a Prometheus finds it, such as release: kube-prometheus-stack.'),
    interval: optionalDuration.default('').describe('Time from one scrape to the next; empty: what Prometheus has.'),
    scrapeTimeout: optionalDuration.default('').describe('How long a scrape may take; empty: what Prometheus has.'),
    tlsConfig: anyMap
      .default({})
      .describe("With metrics.secure: how the certificate is checked; the Service's name is expected in it."),
    relabelings: anyList.default([]).describe('Relabelings of the target.'),
    metricRelabelings: anyList.default([]).describe('Relabelings of what was scraped.'),
  })
  .prefault({})
  .describe('ServiceMonitor of the Prometheus operator for these metrics.');

/** Rules for a Prometheus that the Prometheus operator runs. */
export const prometheusRule = z
  .strictObject({
    enabled: z.boolean().default(false).describe('Create it; the CRDs of the Prometheus operator must be there.'),
    labels: stringMap
      .default({})
      .describe('Labels on it, by which a Prometheus finds it, such as release: kube-prometheus-stack.'),
  })
  .prefault({})
  .describe("PrometheusRule of the Prometheus operator with this project's recording and alerting rules.");

/** What may reach the pods of the release. */
export const networkPolicy = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Let nothing in but what is named here. Off, since it would cut off a Prometheus or Grafana that nobody named. ' +
          'node-exporter is on hostNetwork, out of reach of any NetworkPolicy: its port is for the firewall of the nodes.',
      ),
    metricsFrom: anyList
      .default([])
      .describe(
        'Who may scrape the operator beside the deployed Prometheus: a list of NetworkPolicyPeers, such as ' +
          '{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}.',
      ),
    prometheusFrom: anyList
      .default([])
      .describe('Who may ask the deployed Prometheus beside the operator, such as Grafana: the same.'),
  })
  .prefault({})
  .describe('NetworkPolicies for ingress to the operator and to the Prometheus that it deploys.');

/** The operator's own metrics, and who is told of them. */
export const metrics = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Serve /metrics and create a Service for it.'),
    port: z.int().min(1).max(65535).default(8080).describe('TCP port.'),
    secure: z
      .boolean()
      .default(false)
      .describe(
        'Serve it by HTTPS, to those only that may GET the non-resource URL /metrics; needs certSecret. ' +
          'The deployed Prometheus, which has no token, does not scrape it then.',
      ),
    certSecret: z.string().default('').describe('Secret of the type kubernetes.io/tls with the certificate for that.'),
    service: z
      .strictObject({
        labels: stringMap.default({}).describe('Labels on the Service.'),
        annotations: stringMap.default({}).describe('Annotations on the Service.'),
      })
      .prefault({})
      .describe('The Service.'),
    serviceMonitor,
  })
  .prefault({})
  .describe("The operator's own metrics.");
