import type { V1ResourceRequirements } from '@kubernetes/client-node';
import { RE2JS } from 're2js';
import * as z from 'zod';
import { durationSchema, patternSchema } from '../fieldSchemas.ts';
import { namespaceSelectorSchema, specSchema as weightSpecSchema } from '../trafficweight/specSchema.ts';
import {
  labelsSchema,
  nodeAffinitySchema,
  tolerationsSchema,
  OBJECT_NAME,
  isObject,
  LABEL,
  LARGEST_PORT,
} from './podSchemas.ts';
import { EXTERNAL_KINDS, SERVICE_TYPES } from './terms.ts';
import { quantityOf } from '../../runtime/apply/quantity.ts';
import { prometheusDuration } from '../../runtime/process/duration.ts';

const LONGEST_IMAGE = 512;
/** Limits of the namespaceSelector. The API server multiplies the cost of its rules by the number of components that a stack may have. */
const SELECTOR_LIMITS = { requirements: 5, values: 25 };

/** Schema of the report interval, on which a server and its agents agree. The flag of the operator has the same bounds. */
const reportInterval = durationSchema(
  'Time between two reports of an agent until a ConnectivityCheck sets it. Default: the flag of the operator.',
  { least: '2s', most: '24h', examples: '"15s" or "1m"', inSeconds: true },
);
/** Enough for the default of the operator several times over. */
const LONGEST_PATTERN = 1_024;
const PATTERN_MESSAGE = `must be a regular expression in the syntax of RE2, of 1 to ${LONGEST_PATTERN} characters`;

const image = z
  .string()
  .min(1)
  .max(LONGEST_IMAGE)
  .optional()
  .meta({ description: 'Container image. Default: the flag of the operator.' });
const priorityClassName = z.string().min(1).optional().meta({
  description: 'Priority class of the pods. Default: common.priorityClassName, else the flag of the operator.',
});
const resources = z.custom<V1ResourceRequirements>(isObject, 'must be an object').optional().meta({
  'x-pod-template': 'spec.containers.items.resources',
  description: 'Requests and limits of the container. They replace the flag of the operator.',
});

const port = (description: string) =>
  z
    .int()
    .min(1)
    .max(LARGEST_PORT)
    .optional()
    .meta({ format: 'int32', description: `${description}, free on every node. Default: the flag of the operator.` });

const EXTERNAL_NAME = { ...OBJECT_NAME, message: 'must be the name of an object, such as "node-exporter"' };
const URL_OF_SERVER = {
  pattern: '^https?://[^/?#@ ]+(/[^?# ]*)?$',
  message:
    'must be a URL with http or https, without user, query and fragment, such as "http://prometheus.example.org:9090"',
  longest: 512,
};

/** Schema of `spec.components[].external`. Which fields a type may have is in specSchema.ts. */
export const externalSchema = z
  .object({
    kind: z
      .enum(EXTERNAL_KINDS)
      .optional()
      .meta({
        description: `Kind: ${EXTERNAL_KINDS.join(', ')}. Node means a node-exporter on the nodes that no workload runs.`,
      }),
    namespace: patternSchema('Namespace of the DaemonSet or Service.', LABEL).optional(),
    name: patternSchema('Name of the DaemonSet or Service.', EXTERNAL_NAME).optional(),
    url: patternSchema('URL of a Prometheus, instead of kind, namespace and name.', URL_OF_SERVER).optional(),
  })
  .optional()
  .meta({
    description:
      'The object of another owner that the component uses, only with mode External. While it does not exist, the component waits for it. ' +
      'A NodeExporter has a DaemonSet with namespace and name, or the kind Node alone. A Prometheus has a Service with namespace and name, or a url alone. ' +
      'Absent: the operator searches, and keeps what it has used, which status.components.uses names.',
  });

/**
 * The object of another owner that a built-in component uses: a DaemonSet or Service with its namespace and name, the kind Node alone, or a
 * URL alone.
 */
export type ExternalSpec = NonNullable<z.infer<typeof externalSchema>>;

/** The API server checks only the length: CEL cannot compile a pattern. */
const ignoredDevices = z
  .string()
  .min(1, PATTERN_MESSAGE)
  .max(LONGEST_PATTERN, PATTERN_MESSAGE)
  .refine(isPattern, PATTERN_MESSAGE)
  .optional()
  .meta({
    description:
      'Devices whose whole name matches are not read. A regular expression in the syntax of RE2. It replaces the flag of the operator.',
  });

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}

/** Schema of `spec.components[].nodeExporter`. */
export const nodeExporterSchema = z
  .object({
    image,
    port: port('TCP port'),
    priorityClassName,
    nodeSelector: labelsSchema('Labels of the nodes that it runs on. They replace the flag of the operator.'),
    affinity: nodeAffinitySchema(
      'Affinity to the nodes that it runs on. It replaces the flag of the operator. Nodes that it leaves out are measured only if another node-exporter reports them.',
    ),
    resources,
    ignoredDevices,
  })
  .optional()
  .meta({
    description: 'Settings of the type NodeExporter. Absent fields take the value of the flags of the operator.',
  });

/** Schema of `spec.components[].connectivityServer`. */
export const connectivityServerSchema = z
  .object({
    priorityClassName,
    nodeSelector: labelsSchema(
      'Labels of the nodes that the server may run on. They replace common.nodeSelector and the flag of the operator.',
    ),
    tolerations: tolerationsSchema(
      'Taints that the server tolerates. They replace common.tolerations and the flag of the operator.',
    ),
    resources,
    reportInterval,
    serviceType: z
      .enum(SERVICE_TYPES)
      .optional()
      .meta({
        description: `Type of its Service: ${SERVICE_TYPES.join(', ')}. Default: the flag of the operator.`,
      }),
    allowAnonymous: z.boolean().optional().meta({
      description:
        'Whether the server accepts reports without a token, which the original agents send. Default: the flag of the operator.',
    }),
  })
  .optional()
  .meta({
    description: 'Settings of the type ConnectivityServer. Absent fields take the value of the flags of the operator.',
  });

/** Schema of `spec.components[].connectivityAgents`. */
export const connectivityAgentsSchema = z
  .object({
    priorityClassName,
    nodeSelector: labelsSchema('Labels of the nodes that run agents. They replace the flag of the operator.'),
    resources,
    reportInterval,
    peerPort: port('TCP and UDP port on which the agents answer each other'),
  })
  .optional()
  .meta({
    description: 'Settings of the type ConnectivityAgents. Absent fields take the value of the flags of the operator.',
  });

/** Schema of `spec.components[].weights`: the schema of a TrafficWeight's `spec`, with a shorter namespaceSelector. */
export const weightsSchema = weightSpecSchema
  .extend({ namespaceSelector: namespaceSelectorSchema(SELECTOR_LIMITS) })
  .optional()
  .meta({ description: 'Settings of the type Weights: the spec of its TrafficWeight. Not used if mode is External.' });

const namespaceOf = (what: string) =>
  patternSchema(`Namespace of ${what}. It must exist. Default: the namespace of the operator.`, LABEL).optional();

/** Schema of `spec.components[].dashboards`. */
export const dashboardsSchema = z
  .object({
    namespace: namespaceOf('the ConfigMaps'),
    labels: labelsSchema('Labels by which Grafana selects the ConfigMaps. Default: {grafana_dashboard: "1"}.'),
    annotations: labelsSchema(
      'Annotations of the ConfigMaps, such as grafana_folder with the name of a folder. Default: none.',
    ),
  })
  .optional()
  .meta({ description: 'Settings of the type Dashboards.' });

/** Schema of `spec.components[].rules`. */
export const rulesSchema = z
  .object({
    namespace: namespaceOf('the PrometheusRule'),
    labels: labelsSchema(
      'Labels by which a Prometheus selects it, such as release with the name of a release. Default: none.',
    ),
  })
  .optional()
  .meta({ description: 'Settings of the type Rules.' });

/** Prometheus drops a series 5 min after its last sample, and one lost scrape must not end a series. */
const SCRAPE_INTERVALS = { least: '1s', most: '2m', examples: '"5s", "30s" or "1m"', inSeconds: true };
/** Units in the order that Prometheus requires. */
const RETENTION = {
  pattern: '^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$',
  message: 'must be a duration of Prometheus, 2h at least, such as "24h" or "15d"',
  longest: 32,
};
/** Characters, as in 2h. The pattern alone would also match an empty text. */
const SHORTEST_RETENTION = 2;
/** A block of samples covers two hours: with less, Prometheus would keep none. */
const LEAST_RETENTION_MS = 7_200_000;
/** Units are powers of two. */
const RETENTION_SIZE = {
  pattern: '^[1-9][0-9]*(KB|MB|GB|TB)$',
  message: 'must be a size of Prometheus, such as "512MB" or "8GB"',
  longest: 20,
};
const NAME = {
  ...OBJECT_NAME,
  message: 'must be 1 to 253 lower-case letters, digits, "-" and ".", such as "fast"',
};
const LONGEST_QUANTITY = 32;
const LEAST_SIZE = '1Gi';
const SIZE_MESSAGE = `must be a quantity of ${LEAST_SIZE} at least, such as "10Gi"`;
const ONE_VOLUME_MESSAGE = 'must have size or existingClaim, not both: one volume, one claim';
const CLASS_MESSAGE = 'storageClassName: needs size, since it is of the claim that the operator creates';

const size = z
  .string()
  .max(LONGEST_QUANTITY, SIZE_MESSAGE)
  .refine((text) => (quantityOf(text) ?? 0) >= (quantityOf(LEAST_SIZE) ?? 0), SIZE_MESSAGE)
  .optional()
  .meta({
    description:
      `Size of a PersistentVolumeClaim that the operator creates, ${LEAST_SIZE} at least, such as "10Gi". It can only grow. Half of it ` +
      'is for blocks unless retentionSize is set.',
    'x-kubernetes-validations': [
      { rule: `isQuantity(self) && quantity(self).compareTo(quantity('${LEAST_SIZE}')) >= 0`, message: SIZE_MESSAGE },
    ],
  });

const storage = z
  .object({
    size,
    storageClassName: patternSchema(
      'StorageClass of that claim. Default: the default StorageClass of the cluster.',
      NAME,
    ).optional(),
    existingClaim: patternSchema(
      'Name of a PersistentVolumeClaim in the namespace of the operator, which neither creates nor deletes it.',
      NAME,
    ).optional(),
  })
  .superRefine(({ size, storageClassName, existingClaim }, context) => {
    if (size !== undefined && existingClaim !== undefined) {
      context.addIssue({ code: 'custom', message: ONE_VOLUME_MESSAGE });
    }
    if (size === undefined && storageClassName !== undefined) {
      context.addIssue({ code: 'custom', message: CLASS_MESSAGE });
    }
  })
  .optional()
  .meta({
    description:
      'Volume for the samples. It replaces all storage flags of the operator: {} is an emptyDir, which is deleted with the pod.',
    'x-kubernetes-validations': [
      { rule: '!has(self.size) || !has(self.existingClaim)', message: ONE_VOLUME_MESSAGE },
      { rule: 'has(self.size) || !has(self.storageClassName)', message: CLASS_MESSAGE },
    ],
  });

/** Schema of `spec.components[].prometheus`. */
export const prometheusSchema = z
  .object({
    image,
    priorityClassName,
    nodeSelector: labelsSchema(
      'Labels of the nodes that Prometheus may run on. They replace common.nodeSelector and the flag of the operator.',
    ),
    tolerations: tolerationsSchema(
      'Taints that Prometheus tolerates. They replace common.tolerations and the flag of the operator.',
    ),
    resources,
    scrapeInterval: durationSchema(
      'Time between two scrapes of a target. Without --window, nodes are measured over four scrapes. Default: the flag of the operator.',
      SCRAPE_INTERVALS,
    ),
    retention: patternSchema(
      'How long samples are kept: a duration of Prometheus, 2h at least, such as "24h" or "15d". Default: the flag of the operator.',
      RETENTION,
    )
      .min(SHORTEST_RETENTION, RETENTION.message)
      .refine((text) => (prometheusDuration(text) ?? 0) >= LEAST_RETENTION_MS, RETENTION.message)
      .optional(),
    retentionSize: patternSchema(
      'Size limit of the samples on disk, such as "512MB" or "8GB"; the oldest are deleted first. Default: with storage, half of its ' +
        'size, or 1GB without a size; else the flag of the operator.',
      RETENTION_SIZE,
    ).optional(),
    storage,
  })
  .optional()
  .meta({ description: 'Settings of the type Prometheus. Absent fields take the value of the flags of the operator.' });
