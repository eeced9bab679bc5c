import { argument, at, container, count, job, pod, type Effect } from './looks.ts';
import { dashboards, monitoring } from './monitoringEffects.ts';

const LIMITS = { limits: { memory: '2Gi' } };
const FILES = '/etc/traffic-operator';

const names: Effect[] = [
  { of: 'nameOverride', to: 'x', see: at('Deployment', 'metadata/labels/app.kubernetes.io~1name'), is: 'x' },
  { of: 'fullnameOverride', to: 'x', see: at('Deployment', 'metadata/name'), is: 'x' },
  { of: 'image.repository', to: 'r', see: container('image'), is: 'r:9', also: { 'image.tag': '9' } },
  { of: 'image.tag', to: '9', see: container('image'), is: 'traffic-operator:9' },
  { of: 'image.digest', to: 'sha256:a', see: container('image'), is: 'traffic-operator@sha256:a' },
  {
    of: 'image.pullPolicy',
    to: 'Always',
    also: { 'connectivity.enabled': true },
    see: (objects) => [container('imagePullPolicy')(objects), argument('connectivity-image-pull-policy')(objects)],
    is: ['Always', 'Always'],
  },
  {
    of: 'imagePullSecrets',
    to: [{ name: 'a' }],
    see: (objects) => [pod('imagePullSecrets/0/name')(objects), argument('image-pull-secret')(objects)],
    is: ['a', 'a'],
  },
];

const options: Effect[] = [
  { of: 'replicas', to: 3, see: at('Deployment', 'spec/replicas'), is: 3 },
  { of: 'logLevel', to: 'debug', see: argument('log-level'), is: 'debug' },
  { of: 'interval', to: '30s', see: argument('interval'), is: '30s' },
  { of: 'window', to: '1m', see: argument('window'), is: '1m' },
  { of: 'scrapeInterval', to: '9s', see: argument('scrape-interval'), is: '9s' },
  { of: 'deviceExclude', to: '^ib', see: argument('device-exclude'), is: '^ib' },
  { of: 'deviceExcludeDefault', to: '^$', see: argument('device-exclude-default'), is: '^$' },
  { of: 'capacityLabel', to: 'a.b/c', see: argument('capacity-label'), is: 'a.b/c' },
  { of: 'trafficWatch.mostPerNamespace', to: 9, see: argument('most-watches-per-namespace'), is: '9' },
  { of: 'trafficWatch.most', to: 99, see: argument('most-watches'), is: '99' },
  { of: 'trafficWatch.mostReadingsPerNamespace', to: 9, see: argument('most-readings-per-namespace'), is: '9' },
  { of: 'trafficWatch.mostReadings', to: 99, see: argument('most-readings'), is: '99' },
  { of: 'trafficWatch.deployments.enabled', to: false, see: argument('deployments'), is: 'false' },
  { of: 'trafficWatch.deployments.namespaces', to: ['a'], see: argument('deployment-namespace'), is: 'a' },
  { of: 'prometheus.url', to: 'http://p', see: argument('prometheus-url'), is: 'http://p' },
  { of: 'prometheus.username', to: 'me', see: argument('prometheus-username'), is: 'me' },
  { of: 'prometheus.headers', to: { A: 'b' }, see: argument('prometheus-header'), is: 'A: b' },
  { of: 'prometheus.matchers', to: ['a="b"'], see: argument('prometheus-matcher'), is: 'a="b"' },
  { of: 'prometheus.replicaLabels', to: ['replica'], see: argument('prometheus-replica-label'), is: 'replica' },
  { of: 'prometheus.image', to: 'p:1', see: argument('prometheus-image'), is: 'p:1' },
  { of: 'prometheus.priorityClassName', to: 'p', see: argument('prometheus-priority-class'), is: 'p' },
  { of: 'prometheus.resources', to: LIMITS, see: argument('prometheus-resources'), is: JSON.stringify(LIMITS) },
  { of: 'prometheus.nodeSelector', to: { a: 'b' }, see: argument('prometheus-node-selector'), is: 'a=b' },
  { of: 'prometheus.tolerations', to: [{ key: 'a' }], see: argument('prometheus-tolerations'), is: '[{"key":"a"}]' },
  { of: 'prometheus.retention', to: '15d', see: argument('prometheus-retention'), is: '15d' },
  { of: 'prometheus.retentionSize', to: '8GB', see: argument('prometheus-retention-size'), is: '8GB' },
  { of: 'prometheus.storage.size', to: '10Gi', see: argument('prometheus-storage-size'), is: '10Gi' },
  {
    of: 'prometheus.storage.storageClassName',
    to: 'fast',
    also: { 'prometheus.storage.size': '10Gi' },
    see: argument('prometheus-storage-class'),
    is: 'fast',
  },
  { of: 'prometheus.storage.existingClaim', to: 'c', see: argument('prometheus-existing-claim'), is: 'c' },
  { of: 'nodeExporter.resources', to: LIMITS, see: argument('node-exporter-resources'), is: JSON.stringify(LIMITS) },
  { of: 'nodeExporter.nodeSelector', to: { a: 'b' }, see: argument('node-exporter-node-selector'), is: 'a=b' },
  { of: 'nodeExporter.affinity', to: { a: {} }, see: argument('node-exporter-affinity'), is: '{"a":{}}' },
  { of: 'nodeExporter.enabled', to: false, see: argument('node-exporter'), is: 'false' },
  { of: 'nodeExporter.image', to: 'e:1', see: argument('node-exporter-image'), is: 'e:1' },
  { of: 'nodeExporter.port', to: 9200, see: argument('node-exporter-port'), is: '9200' },
  { of: 'nodeExporter.priorityClassName', to: 'p', see: argument('node-exporter-priority-class'), is: 'p' },
  { of: 'nodeExporter.ignoredDevices', to: '^ib', see: argument('node-exporter-ignored-devices'), is: '^ib' },
  { of: 'extraArgs', to: ['--a=b'], see: argument('a'), is: 'b' },
  { of: 'extraEnv', to: [{ name: 'A', value: 'b' }], see: container('env/2/name'), is: 'A' },
];

const WITH_WEIGHTS = { also: { 'weights.enabled': true } };
const optional: Effect[] = [
  { of: 'weights.enabled', to: true, see: argument('weights'), is: 'true' },
  { of: 'weights.replicas', to: 3, ...WITH_WEIGHTS, see: at('Deployment', 'spec/replicas', '-weights'), is: 3 },
  {
    of: 'weights.serviceAccount.name',
    to: 'x',
    ...WITH_WEIGHTS,
    see: at('Deployment', 'spec/template/spec/serviceAccountName', '-weights'),
    is: 'x',
  },
  {
    of: 'weights.serviceAccount.annotations',
    to: { a: 'b' },
    ...WITH_WEIGHTS,
    see: at('ServiceAccount', 'metadata/annotations/a', '-weights'),
    is: 'b',
  },
  {
    of: 'weights.extraArgs',
    to: ['--a=b'],
    ...WITH_WEIGHTS,
    see: (objects) => {
      const args = at('Deployment', 'spec/template/spec/containers/0/args', '-weights')(objects);
      return (args as string[] | undefined)?.at(-1);
    },
    is: '--a=b',
  },
  { of: 'stacks.enabled', to: true, see: argument('stacks'), is: 'true' },
  { of: 'discovery.namespaces', to: ['monitoring'], see: argument('discovery-namespace'), is: 'monitoring' },
  {
    of: 'stacks.namespaces',
    to: ['a'],
    also: { 'stacks.enabled': true },
    see: argument('stack-namespace'),
    is: 'a',
  },
  {
    of: 'stacks.objectKinds',
    to: [{ apiVersion: 'batch/v1', kind: 'Job', resource: 'jobs' }],
    also: { 'stacks.enabled': true },
    see: argument('stack-object-kind'),
    is: 'batch/v1/jobs/Job',
  },
  { of: 'stacks.default', to: false, see: argument('default-stack'), is: 'false' },
];

const ON = { 'connectivity.enabled': true };
const connectivity: Effect[] = [
  {
    of: 'connectivity.enabled',
    to: true,
    see: argument('connectivity-image'),
    is: 'traffic-operator:9',
    also: { 'image.tag': '9' },
  },
  { of: 'connectivity.reportInterval', to: '9s', also: ON, see: argument('connectivity-report-interval'), is: '9s' },
  {
    of: 'connectivity.service.type',
    to: 'NodePort',
    also: ON,
    see: argument('connectivity-service-type'),
    is: 'NodePort',
  },
  ...(
    [
      ['server.resources', LIMITS, 'server-resources', JSON.stringify(LIMITS)],
      ['server.priorityClassName', 'p', 'server-priority-class', 'p'],
      ['server.nodeSelector', { a: 'b' }, 'server-node-selector', 'a=b'],
      ['server.tolerations', [{ key: 'a' }], 'server-tolerations', '[{"key":"a"}]'],
      ['agents.resources', LIMITS, 'agent-resources', JSON.stringify(LIMITS)],
      ['agents.priorityClassName', 'p', 'agent-priority-class', 'p'],
      ['peerPort', 9082, 'peer-port', '9082'],
      ['nodeSelector', { a: 'b' }, 'node-selector', 'a=b'],
      ['allowAnonymous', true, 'allow-anonymous', 'true'],
      ['allowedTargets', ['fd00::/64'], 'allow-target-cidr', 'fd00::/64'],
    ] as const
  ).map(([of, to, name, is]) => ({
    ...{ of: `connectivity.${of}`, to, also: ON, is },
    see: argument(`connectivity-${name}`),
  })),
  { of: 'connectivity.tls.secretName', to: 's', also: ON, see: argument('connectivity-tls-secret'), is: 's' },
];

/** Each is a directory, with the key as the file in it. */
const files: Effect[] = (
  [
    ['passwordSecret', 'prometheus-password-file', 'password/password', 'password'],
    ['bearerTokenSecret', 'prometheus-bearer-token-file', 'token/token', 'token'],
    ['caSecret', 'prometheus-ca-file', 'ca/ca.crt', 'ca'],
    ['caConfigMap', 'prometheus-ca-file', 'ca/ca.crt', 'ca'],
  ] as const
).flatMap(([value, name, path, directory]): Effect[] => [
  { of: `prometheus.${value}.name`, to: 'x', see: argument(name), is: `${FILES}/${path}` },
  {
    of: `prometheus.${value}.key`,
    to: 'k',
    also: { [`prometheus.${value}.name`]: 'x' },
    see: argument(name),
    is: `${FILES}/${directory}/k`,
  },
]);

const lastArgument: Effect['see'] = (objects) => {
  const args = at('Deployment', 'spec/template/spec/containers/0/args', '-placement')(objects);
  return (args as string[] | undefined)?.at(-1);
};
const ofWebhookPod = (path: string): Effect['see'] => at('Deployment', `spec/template/spec/${path}`, '-placement');
const CA = { 'placementWebhook.clientCaConfigMap.name': 'x' };
/** With the webhook. */
const ofWebhook = (
  [
    ['replicas', 3, at('Deployment', 'spec/replicas', '-placement'), 3],
    ['serviceAccount.name', 'x', ofWebhookPod('serviceAccountName'), 'x'],
    ['clientCaConfigMap.name', 'x', ofWebhookPod('volumes/0/configMap/name'), 'x'],
    ['clientCaConfigMap.key', 'x.pem', lastArgument, `--client-ca-file=${FILES}/client-ca/x.pem`],
    ['resources', { limits: { memory: '1Gi' } }, ofWebhookPod('containers/0/resources/limits/memory'), '1Gi'],
    ['extraArgs', ['--a=b'], lastArgument, '--a=b'],
  ] as [string, unknown, Effect['see'], unknown][]
).map(([name, to, see, is]): Effect => {
  const needs = { 'placementWebhook.enabled': true, ...(name.endsWith('.key') && CA) };
  return { of: `placementWebhook.${name}`, to, also: needs, see, is };
});
const parts: Effect[] = [
  { of: 'openshift.enabled', to: true, see: count(/^SecurityContextConstraints$/), is: 1 },
  { of: 'crds.enabled', to: false, see: count(/^CustomResourceDefinition$/), is: 0 },
  { of: 'crds.keep', to: false, see: at('CustomResourceDefinition', 'metadata/annotations'), is: undefined },
  { of: 'serviceAccount.create', to: false, see: count(/^ServiceAccount$/), is: 0 },
  { of: 'serviceAccount.name', to: 'x', see: pod('serviceAccountName'), is: 'x' },
  { of: 'serviceAccount.annotations', to: { a: 'b' }, see: at('ServiceAccount', 'metadata/annotations/a'), is: 'b' },
  { of: 'rbac.create', to: false, see: count(/Role/), is: 0 },
  { of: 'nodePolicy.enabled', to: false, see: count(/^ValidatingAdmissionPolicy/, /-nodes$/), is: 0 },
  { of: 'requesterPolicy.enabled', to: false, see: count(/^ValidatingAdmissionPolicy/, /-requesters-/), is: 0 },
  { of: 'ownObjectsPolicy.enabled', to: false, see: count(/^ValidatingAdmissionPolicy/, /-own-objects$/), is: 0 },
  {
    of: 'ownObjectsPolicy.protectedNamespaces',
    to: ['a', 'b'],
    see: at('ValidatingAdmissionPolicy', 'spec/validations/0/expression', '-own-objects'),
    is: "request.operation != 'CREATE' || variables.kind == 'dnsendpoints' || !(variables.namespaceName in ['a', 'b'])",
  },
  { of: 'placementPolicy.enabled', to: false, see: count(/^MutatingAdmissionPolicy/), is: 0 },
  { of: 'placementWebhook.enabled', to: true, see: count(/^MutatingWebhookConfiguration$/), is: 1 },
  ...ofWebhook,
  { of: 'flowSchema.enabled', to: false, see: count(/^FlowSchema$/), is: 0 },
  { of: 'cleanup.enabled', to: false, see: job('kind'), is: undefined },
  { of: 'cleanup.timeoutSeconds', to: 30, see: job('spec/activeDeadlineSeconds'), is: 30 },
  { of: 'podDisruptionBudget.enabled', to: false, see: count(/^PodDisruptionBudget$/), is: 0 },
  {
    of: 'podDisruptionBudget.maxUnavailable',
    to: 2,
    see: at('PodDisruptionBudget', 'spec/maxUnavailable'),
    is: 2,
  },
];

const pods: Effect[] = [
  { of: 'resources', to: { limits: { memory: '1Gi' } }, see: container('resources/limits/memory'), is: '1Gi' },
  {
    of: 'commonLabels',
    to: { a: 'b' },
    see: (objects) => [at('ClusterRole', 'metadata/labels/a')(objects), argument('object-label')(objects)],
    is: ['b', 'a=b'],
  },
  { of: 'annotations', to: { a: 'b' }, see: at('Deployment', 'metadata/annotations/a'), is: 'b' },
  {
    of: 'podLabels',
    to: { a: 'b' },
    see: (objects) => [at('Deployment', 'spec/template/metadata/labels/a')(objects), argument('pod-label')(objects)],
    is: ['b', 'a=b'],
  },
  {
    of: 'podAnnotations',
    to: { a: 'b' },
    see: (objects) => [
      at('Deployment', 'spec/template/metadata/annotations/a')(objects),
      argument('pod-annotation')(objects),
    ],
    is: ['b', 'a=b'],
  },
  { of: 'priorityClassName', to: 'high', see: pod('priorityClassName'), is: 'high' },
  { of: 'nodeSelector', to: { a: 'b' }, see: pod('nodeSelector/a'), is: 'b' },
  { of: 'tolerations', to: [{ operator: 'Exists' }], see: pod('tolerations/0/operator'), is: 'Exists' },
  { of: 'affinity', to: { nodeAffinity: {} }, see: pod('affinity'), is: { nodeAffinity: {} } },
  { of: 'topologySpreadConstraints', to: [], see: pod('topologySpreadConstraints'), is: undefined },
];

export const EFFECTS: readonly Effect[] = [
  ...names,
  ...options,
  ...connectivity,
  ...optional,
  ...files,
  ...parts,
  ...monitoring,
  ...dashboards,
  ...pods,
];
