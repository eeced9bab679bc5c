import { RE2JS } from 're2js';
import * as z from 'zod';
import { durationSchema } from '../durationSchema.ts';
import { patternSchema } from '../patternSchema.ts';
import { namespaceSelectorSchema, specSchema as weightSpecSchema } from '../trafficweight/specSchema.ts';
import { labelsSchema, nodeAffinitySchema, tolerationsSchema } from './placementSchema.ts';
import { SERVICE_TYPES } from './terms.ts';
import type { NodeExporterSpec } from './trafficStack.ts';
import { isObject, LABEL, LARGEST_PORT } from './workloadSchema.ts';

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

export const image = z
  .string()
  .min(1)
  .max(LONGEST_IMAGE)
  .optional()
  .meta({ description: 'Container image. Default: the flag of the operator.' });
export const priorityClassName = z.string().min(1).optional().meta({
  description: 'Priority class of the pods. Default: common.priorityClassName, else the flag of the operator.',
});
export const resources = z
  .custom<NonNullable<NodeExporterSpec['resources']>>(isObject, 'must be an object')
  .optional()
  .meta({
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
