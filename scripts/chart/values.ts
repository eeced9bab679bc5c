import { z } from 'zod';
import { defaultMeasurementOptions, POD_INTERFACES } from '../../src/controllers/measurement/options.ts';
import { LOG_LEVELS } from '../../src/runtime/process/logger.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../../src/usage/evaluate/devices.ts';
import { dashboards } from './dashboardValues.ts';
import { metrics, networkPolicy, prometheusRule } from './monitoringValues.ts';
import { anyList, anyMap, duration, optionalDuration, stringMap } from './shapes.ts';

/**
 * The values of the chart. values.yaml, values.schema.json and the table in the chart's README are generated from this:
 * descriptions become comments, defaults become values. Objects are strict, so that a misspelt value is an error
 * instead of being without effect.
 */

const MEASUREMENT = defaultMeasurementOptions('');

function keyOf(what: string, key: string) {
  return z
    .strictObject({
      name: z.string().default('').describe('Its name; empty: there is none.'),
      key: z.string().default(key).describe('The key in it.'),
    })
    .prefault({})
    .describe(what);
}

const image = z
  .strictObject({
    repository: z.string().default('traffic-operator').describe('Repository, with its registry.'),
    tag: z.string().default('').describe("Tag; empty: the chart's appVersion."),
    digest: z.string().default('').describe('Digest such as "sha256:...", which wins over the tag.'),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent').describe('When it is pulled.'),
  })
  .prefault({})
  .describe("The operator's image.");

const storage = z
  .strictObject({
    size: z
      .string()
      .default('')
      .describe(
        'Size of a PersistentVolumeClaim that the operator makes, such as 10Gi; empty: none. It can only grow, and is deleted at helm uninstall.',
      ),
    storageClassName: z.string().default('').describe("StorageClass of that claim; empty: the cluster's default."),
    existingClaim: z
      .string()
      .default('')
      .describe('A claim that is there instead, which the operator neither makes nor deletes; empty: none.'),
  })
  .prefault({})
  .describe(
    `A volume for its samples; with neither, they are in an emptyDir of ${MEASUREMENT.prometheus.storageSize}.`,
  );

const prometheus = z
  .strictObject({
    url: z
      .string()
      .regex(/^(https?:\/\/.+)?$/)
      .default('')
      .describe('A Prometheus that exists, such as "http://prometheus.monitoring.svc:9090"; then none is deployed.'),
    username: z.string().default('').describe('User for basic authentication at that URL.'),
    passwordSecret: keyOf("Secret in the release's namespace with that user's password.", 'password'),
    bearerTokenSecret: keyOf("Secret in the release's namespace with a bearer token.", 'token'),
    caSecret: keyOf(
      "Secret in the release's namespace with the CA (PEM) that signed the server's certificate.",
      'ca.crt',
    ),
    caConfigMap: keyOf("The same in a ConfigMap of the release's namespace.", 'ca.crt'),
    headers: stringMap.default({}).describe('Headers sent with each request, such as X-Scope-OrgID.'),
    matchers: z
      .array(z.string())
      .default([])
      .describe('Matchers added to each query, such as cluster="x", where one Prometheus has several clusters.'),
    image: z.string().default(MEASUREMENT.prometheus.image).describe('Image of the one that is deployed.'),
    priorityClassName: z
      .string()
      .default(MEASUREMENT.prometheus.priorityClassName)
      .describe('Priority class of the one that is deployed; empty: none.'),
    resources: anyMap
      .default({})
      .describe(
        `Requests and limits of its container, all of them; empty: ${JSON.stringify(MEASUREMENT.prometheus.resources)}.`,
      ),
    nodeSelector: stringMap.default({}).describe('Labels of the nodes that it may run on, beside kubernetes.io/os.'),
    tolerations: anyList.default([]).describe('Taints that it tolerates.'),
    retention: z
      .string()
      .default('')
      .describe(
        `How long it keeps samples, such as 15d; empty: ${MEASUREMENT.prometheus.retentionTime}. Nodes are judged by the newest, so that more is for dashboards.`,
      ),
    retentionSize: z
      .string()
      .default('')
      .describe(
        `How much it keeps on disk, such as 8GB; empty: ${MEASUREMENT.prometheus.retentionSize}, or half of storage.size.`,
      ),
    storage,
  })
  .prefault({})
  .describe('The Prometheus that is asked.');

const nodeExporter = z
  .strictObject({
    enabled: z
      .union([z.boolean(), z.literal('auto')])
      .default('auto')
      .describe('Whether node-exporter is deployed; auto: unless prometheus.url is set.'),
    image: z.string().default(MEASUREMENT.exporter.image).describe('Its image.'),
    port: z
      .int()
      .min(1)
      .max(65535)
      .default(MEASUREMENT.exporter.port)
      .describe('Its TCP port on the nodes, which must be free there.'),
    priorityClassName: z
      .string()
      .default(MEASUREMENT.exporter.priorityClassName)
      .describe(
        'Its priority class; empty: none. With system-node-critical a node full of pods is measured, too, but some clouds, such as GKE, then want a ResourceQuota for that class in its namespace.',
      ),
    resources: anyMap
      .default({})
      .describe(
        `Requests and limits of its container, all of them; empty: ${JSON.stringify(MEASUREMENT.exporter.resources)}.`,
      ),
    ignoredDevices: z
      .string()
      .default('')
      .describe(
        `Regular expression of network devices that it does not even read, in place of the default: the nodes' ends of pod interfaces. A node whose uplink has such a name is measured only with another expression here. Empty: ${POD_INTERFACES}`,
      ),
  })
  .prefault({})
  .describe('The exporter that measures the nodes, in the namespace <release namespace>-node-exporter.');

const crds = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Install and upgrade the CRDs with the chart.'),
    keep: z.boolean().default(true).describe('Keep them, and with them every TrafficWatch, at helm uninstall.'),
  })
  .prefault({})
  .describe('Custom resource definitions.');

const serviceAccount = z
  .strictObject({
    create: z.boolean().default(true).describe('Create it.'),
    name: z.string().default('').describe('Its name; empty: the full name of the release.'),
    annotations: stringMap.default({}).describe('Annotations on it.'),
  })
  .prefault({})
  .describe("The operator's ServiceAccount.");

const cleanup = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe('At helm uninstall, first take labels off the nodes and finalizers off the TrafficWatches.'),
    timeoutSeconds: z.int().min(10).default(120).describe('How long that may take before it counts as failed.'),
  })
  .prefault({})
  .describe('The pre-delete hook.');

const podDisruptionBudget = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Create it.'),
    maxUnavailable: z.int().min(0).default(1).describe('How many of the replicas may be away for a drain.'),
  })
  .prefault({})
  .describe('PodDisruptionBudget.');

const resources = anyMap
  .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '384Mi' } })
  .describe('Of the container. No CPU limit: a throttled leader loses its lease.');

export const chartValues = z.strictObject({
  global: anyMap.optional(),
  nameOverride: z.string().default('').describe('Stands in for the chart name in labels and names.'),
  fullnameOverride: z.string().default('').describe('Stands in for the full name of everything in the release.'),
  image,
  imagePullSecrets: anyList
    .default([])
    .describe(
      'Secrets to pull the images with, of Prometheus and node-exporter, too: a list of {name}. For node-exporter they have to be in its namespace.',
    ),
  replicas: z.int().min(0).default(2).describe('Pods of the operator: one leads, the others are ready to take over.'),
  logLevel: z.enum(LOG_LEVELS).default('info').describe('What is logged.'),
  interval: duration.default('10s').describe('Time from one pass over the nodes to the next.'),
  window: optionalDuration
    .default('')
    .describe(
      'Time a rate is taken over, at least four scrapes; empty: four times scrapeInterval, 20s at least, and 2m where prometheus.url is set.',
    ),
  scrapeInterval: duration
    .default(`${MEASUREMENT.prometheus.scrapeIntervalSeconds}s`)
    .describe('How often the deployed Prometheus scrapes the nodes, 2m at most.'),
  deviceExclude: z
    .string()
    .default('')
    .describe(
      'Regular expression of network devices that are not measured either, beside those of deviceExcludeDefault, such as "ib.*".',
    ),
  deviceExcludeDefault: z
    .string()
    .default('')
    .describe(
      `Regular expression that replaces the devices that are never measured because they are not physical, all of them; "^$" leaves nothing out by name. Empty: ${DEFAULT_EXCLUDED_DEVICES}`,
    ),
  prometheus,
  nodeExporter,
  crds,
  serviceAccount,
  rbac: z
    .strictObject({ create: z.boolean().default(true).describe('Create the roles and their bindings.') })
    .prefault({})
    .describe('RBAC.'),
  nodePolicy: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('Refuse whatever is sent with the tokens of the operator, but changes of its own label keys.'),
    })
    .prefault({})
    .describe('ValidatingAdmissionPolicy for Nodes, whose fields RBAC cannot tell apart.'),
  flowSchema: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe(
          "Put the lease's calls into the priority level leader-election, so that a busy API server takes them.",
        ),
    })
    .prefault({})
    .describe('FlowSchema of API priority and fairness.'),
  metrics,
  dashboards,
  prometheusRule,
  networkPolicy,
  cleanup,
  podDisruptionBudget,
  resources,
  commonLabels: stringMap
    .default({})
    .describe('Labels on every object of the release; not on what the operator makes.'),
  annotations: stringMap.default({}).describe('Annotations on the Deployment.'),
  podLabels: stringMap.default({}).describe('Labels on the pods.'),
  podAnnotations: stringMap.default({}).describe('Annotations on the pods.'),
  priorityClassName: z.string().default('').describe('Priority class of the pods.'),
  nodeSelector: stringMap.default({ 'kubernetes.io/os': 'linux' }).describe('Where the pods may run.'),
  tolerations: anyList
    .default([])
    .describe(
      "Taints that the operator's pods tolerate. Prometheus has prometheus.tolerations, node-exporter tolerates all.",
    ),
  affinity: anyMap.default({}).describe('Affinity of the pods.'),
  topologySpreadConstraints: anyList
    .default([{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }])
    .describe("How the pods are spread; the operator's own pods are selected where there is no labelSelector."),
  extraArgs: z.array(z.string()).default([]).describe('More arguments of the operator.'),
  extraEnv: anyList.default([]).describe('More environment variables.'),
});

/** What a user may give; everything has a default. */
export type ChartValues = z.input<typeof chartValues>;
