import { z } from 'zod';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import { LOG_LEVELS } from '../../src/runtime/process/logger.ts';
import { DEFAULT_EXCLUDED_DEVICES } from '../../src/usage/evaluate/devices/devices.ts';
import { connectivity } from './connectivityValues.ts';
import { dashboards } from './dashboardValues.ts';
import { discovery, nodeExporter, prometheus } from './measurementValues.ts';
import { metrics, networkPolicy, prometheusRule } from './monitoringValues.ts';
import { nodePolicy, ownObjectsPolicy, placementPolicy, placementWebhook, requesterPolicy } from './policyValues.ts';
import {
  accountName,
  allowedNamespaces,
  anyList,
  anyMap,
  duration,
  MOST_OBJECT_KINDS,
  objectKind,
  optionalDuration,
  stringMap,
} from './shapes.ts';
import { trafficWatch } from './trafficWatchValues.ts';

/**
 * The values of the chart. values.yaml, values.schema.json and the table in the chart's README are generated from this
 * schema: descriptions become comments, defaults become values. Objects are strict, so that a misspelt value is an
 * error.
 */

const MEASUREMENT = defaultMeasurementOptions('');

const image = z
  .strictObject({
    repository: z.string().default('traffic-operator').describe('Image repository, including the registry.'),
    tag: z.string().default('').describe("Image tag; empty: the chart's appVersion."),
    digest: z.string().default('').describe('Image digest, such as "sha256:...". It takes precedence over the tag.'),
    pullPolicy: z
      .enum(['Always', 'IfNotPresent', 'Never'])
      .default('IfNotPresent')
      .describe('Pull policy of the image.'),
  })
  .prefault({})
  .describe("The operator's image.");

const crds = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Install and upgrade the CRDs with the chart.'),
    keep: z.boolean().default(true).describe('Keep the CRDs and every object of their kinds at helm uninstall.'),
  })
  .prefault({})
  .describe('Custom resource definitions.');

const serviceAccount = z
  .strictObject({
    create: z.boolean().default(true).describe('Create the ServiceAccount.'),
    name: z.string().default('').describe('Name of the ServiceAccount; empty: the full name of the release.'),
    annotations: stringMap.default({}).describe('Annotations of the ServiceAccount.'),
  })
  .prefault({})
  .describe("The operator's ServiceAccount.");

const cleanup = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'At helm uninstall, first remove the labels from the nodes and the finalizers from TrafficWatches and TrafficStacks.',
      ),
    timeoutSeconds: z.int().min(10).default(120).describe('Deadline of the clean-up, in seconds.'),
  })
  .prefault({})
  .describe('The clean-up Job, a pre-delete hook.');

const podDisruptionBudget = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Create the PodDisruptionBudget.'),
    maxUnavailable: z.int().min(0).default(1).describe('Number of replicas that a drain may evict at once.'),
  })
  .prefault({})
  .describe('PodDisruptionBudget.');

const resources = anyMap
  .default({ requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '384Mi' } })
  .describe(
    'Requests and limits of the operator container. There is no CPU limit because a throttled leader loses its Lease.',
  );

export const chartValues = z.strictObject({
  global: anyMap.optional(),
  nameOverride: z.string().default('').describe('Replaces the chart name in labels and names.'),
  fullnameOverride: z.string().default('').describe('Replaces the full name of all objects of the release.'),
  image,
  imagePullSecrets: anyList
    .default([])
    .describe(
      'Pull secrets, a list of {name}, for the images of the operator, Prometheus, node-exporter and the connectivity check. For node-exporter and the agents of the connectivity check they must exist in their namespaces.',
    ),
  replicas: z.int().min(0).default(2).describe('Number of operator pods. One leads, the others stand by.'),
  logLevel: z.enum(LOG_LEVELS).default('info').describe('Lowest level that is logged.'),
  interval: duration.default('10s').describe('Time between the starts of two passes.'),
  window: optionalDuration
    .default('')
    .describe(
      'Time whose samples make a rate, at least four scrapes. Empty: four times scrapeInterval, at least 20s; 2m if prometheus.url is set.',
    ),
  scrapeInterval: duration
    .default(`${MEASUREMENT.prometheus.scrapeIntervalSeconds}s`)
    .describe('Scrape interval of the deployed Prometheus, at most 2m.'),
  deviceExclude: z
    .string()
    .default('')
    .describe('Regular expression of network devices to exclude in addition to deviceExcludeDefault, such as "ib.*".'),
  deviceExcludeDefault: z
    .string()
    .default('')
    .describe(
      `Regular expression of network devices that are excluded because they are not physical. A value replaces the whole list; "^$" excludes no device by name. Empty: ${DEFAULT_EXCLUDED_DEVICES}`,
    ),
  capacityLabel: z
    .string()
    .default('')
    .describe(
      'Node label with the capacity of the node\'s network, such as "karpenter.k8s.aws/instance-network-bandwidth": Mbit/s, or a number with a unit such as 25Gbit. spec.capacity of a TrafficWatch and the annotation traffic.example.com/capacity take precedence.',
    ),
  trafficWatch,
  prometheus,
  nodeExporter,
  connectivity,
  weights: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe(
          'Whether the operator gives DNS records weights, as TrafficWeights ask for. Installs the CRD of TrafficWeights, and a Deployment, <full name>-weights, whose ServiceAccount alone has the rights to Ingresses and DNSEndpoints. It shares image, resources, placement and Prometheus with the operator. Needs external-dns with its CRD.',
        ),
      replicas: z.int().min(0).default(2).describe('Number of its pods. One leads, the others stand by.'),
      serviceAccount: z
        .strictObject({
          name: accountName('weights'),
          annotations: stringMap.default({}).describe('Annotations, such as the IAM role for DynamoDB and Route 53.'),
        })
        .prefault({})
        .describe('Its ServiceAccount.'),
      extraArgs: z
        .array(z.string())
        .default([])
        .describe('Additional arguments of its container, such as --dynamodb-endpoint-url=https://dynamodb.example.'),
    })
    .prefault({})
    .describe('DNS weights, which shift traffic between clusters.'),
  stacks: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe(
          'Whether the operator runs the TrafficStacks of users. Grants the rights to read workloads, Services and ConfigMaps in every namespace, and to write them in stacks.namespaces. Without it, only the TrafficStack "default" is run, and any other one is Stalled (StacksNotEnabled).',
        ),
      namespaces: allowedNamespaces
        .default([])
        .describe(
          'Namespaces in which the operator may create, change and delete the objects of TrafficStacks, besides the namespace of the release, such as [shop]; "*": every namespace. They must exist. A TrafficStack with objects in another namespace is Stalled (NamespaceNotAllowed), and nothing of it is written.',
        ),
      objectKinds: z
        .array(objectKind)
        .max(MOST_OBJECT_KINDS)
        .default([])
        .describe(
          'Kinds of which components of the type Objects may have objects, such as [{apiVersion: batch/v1, kind: Job, resource: jobs}]. Grants the rights to read them in every namespace, and to write them in stacks.namespaces. Not Secrets, pods, workloads, and kinds of the whole cluster.',
        ),
      default: z
        .boolean()
        .default(true)
        .describe(
          'Whether the operator creates the TrafficStack "default", with node-exporter, Prometheus and the connectivity check. It follows these values until somebody changes its spec. From then on the object decides. If false, the operator deploys nothing by itself.',
        ),
    })
    .prefault({})
    .describe('Stacks, whose components are brought up in the order of their dependencies.'),
  discovery,
  openshift: z
    .strictObject({
      enabled: z
        .union([z.boolean(), z.literal('auto')])
        .default('auto')
        .describe(
          'Whether pods have no fixed user and group IDs, and those in the network of their node a SecurityContextConstraints of their own; auto: where the cluster serves SecurityContextConstraints.',
        ),
    })
    .prefault({})
    .describe('OpenShift, which assigns the IDs of pods and refuses others.'),
  crds,
  serviceAccount,
  rbac: z
    .strictObject({
      create: z
        .boolean()
        .default(true)
        .describe('Create the roles and bindings, and on OpenShift the SecurityContextConstraints.'),
    })
    .prefault({})
    .describe('RBAC.'),
  nodePolicy,
  requesterPolicy,
  ownObjectsPolicy,
  placementPolicy,
  placementWebhook,
  flowSchema: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe(
          'Assign the requests for the Lease to the priority level leader-election, so that a busy API server accepts them.',
        ),
    })
    .prefault({})
    .describe('FlowSchema of API Priority and Fairness.'),
  metrics,
  dashboards,
  prometheusRule,
  networkPolicy,
  cleanup,
  podDisruptionBudget,
  resources,
  commonLabels: stringMap
    .default({})
    .describe('Labels of every object of the release, and of every object that the operator deploys.'),
  annotations: stringMap.default({}).describe('Annotations of the operator Deployment.'),
  podLabels: stringMap.default({}).describe('Labels of the operator pods, and of the pods that the operator deploys.'),
  podAnnotations: stringMap
    .default({})
    .describe('Annotations of the operator pods, and of the pods that the operator deploys.'),
  priorityClassName: z.string().default('').describe('Priority class of the operator pods.'),
  nodeSelector: stringMap.default({ 'kubernetes.io/os': 'linux' }).describe('Node selector of the operator pods.'),
  tolerations: anyList
    .default([])
    .describe(
      'Tolerations of the operator pods. Prometheus has prometheus.tolerations; node-exporter tolerates all taints.',
    ),
  affinity: anyMap.default({}).describe('Affinity of the operator pods.'),
  topologySpreadConstraints: anyList
    .default([{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }])
    .describe(
      'Topology spread constraints of the operator pods. Without a labelSelector they select the operator pods.',
    ),
  extraArgs: z.array(z.string()).default([]).describe('Additional arguments of the operator.'),
  extraEnv: anyList.default([]).describe('Additional environment variables of the operator.'),
});

/** The values that a user may set; every value has a default. */
export type ChartValues = z.input<typeof chartValues>;
