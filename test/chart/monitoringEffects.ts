import { at, container, count, endpoint, peers, pod, type Effect } from './looks.ts';

const MONITOR = { 'metrics.serviceMonitor.enabled': true };
const POLICY = { 'networkPolicy.enabled': true };
const SECURE = { 'metrics.secure': true, 'metrics.certSecret': 'tls' };
const PEER = { namespaceSelector: { matchLabels: { a: 'b' } } };
const FILES = '/etc/traffic-operator';

/** Values for users who watch the operator. */
export const monitoring: Effect[] = [
  { of: 'metrics.enabled', to: false, see: count(/^Service$/), is: 0 },
  { of: 'metrics.port', to: 9090, see: at('Service', 'spec/ports/0/port'), is: 9090 },
  {
    of: 'metrics.secure',
    to: true,
    also: { 'metrics.certSecret': 'tls' },
    see: container('volumeMounts/0/mountPath'),
    is: `${FILES}/certificate`,
  },
  {
    of: 'metrics.certSecret',
    to: 'tls',
    also: { 'metrics.secure': true },
    see: pod('volumes/0/secret/secretName'),
    is: 'tls',
  },
  { of: 'metrics.service.labels', to: { a: 'b' }, see: at('Service', 'metadata/labels/a'), is: 'b' },
  { of: 'metrics.service.annotations', to: { a: 'b' }, see: at('Service', 'metadata/annotations/a'), is: 'b' },
  { of: 'metrics.serviceMonitor.enabled', to: true, see: count(/^ServiceMonitor$/), is: 1 },
  {
    of: 'metrics.serviceMonitor.labels',
    to: { a: 'b' },
    also: MONITOR,
    see: at('ServiceMonitor', 'metadata/labels/a'),
    is: 'b',
  },
  { of: 'metrics.serviceMonitor.interval', to: '9s', also: MONITOR, see: endpoint('interval'), is: '9s' },
  { of: 'metrics.serviceMonitor.scrapeTimeout', to: '9s', also: MONITOR, see: endpoint('scrapeTimeout'), is: '9s' },
  {
    of: 'metrics.serviceMonitor.tlsConfig',
    to: { insecureSkipVerify: true },
    also: { ...MONITOR, ...SECURE },
    see: endpoint('tlsConfig'),
    is: { insecureSkipVerify: true, serverName: 'traffic-operator-metrics.traffic-operator-system.svc' },
  },
  ...['relabelings', 'metricRelabelings'].map((list) => ({
    of: `metrics.serviceMonitor.${list}`,
    to: [{ action: 'drop' }],
    also: MONITOR,
    see: endpoint(`${list}/0/action`),
    is: 'drop',
  })),
  { of: 'prometheusRule.enabled', to: true, see: count(/^PrometheusRule$/), is: 1 },
  {
    of: 'prometheusRule.labels',
    to: { a: 'b' },
    also: { 'prometheusRule.enabled': true },
    see: at('PrometheusRule', 'metadata/labels/a'),
    is: 'b',
  },
  { of: 'networkPolicy.enabled', to: true, see: count(/^NetworkPolicy$/), is: 2 },
  { of: 'networkPolicy.metricsFrom', to: [PEER], also: POLICY, see: peers(''), is: PEER },
  { of: 'networkPolicy.prometheusFrom', to: [PEER], also: POLICY, see: peers('-prometheus'), is: PEER },
];

export const dashboards: Effect[] = [
  { of: 'dashboards.enabled', to: false, see: count(/^ConfigMap$/), is: 0 },
  { of: 'dashboards.label', to: 'l', see: at('ConfigMap', 'metadata/labels/l'), is: '1' },
  { of: 'dashboards.labelValue', to: 'v', see: at('ConfigMap', 'metadata/labels/grafana_dashboard'), is: 'v' },
  { of: 'dashboards.annotations', to: { a: 'b' }, see: at('ConfigMap', 'metadata/annotations/a'), is: 'b' },
  { of: 'dashboards.namespace', to: 'other', see: at('ConfigMap', 'metadata/namespace'), is: 'other' },
];
