import * as z from 'zod';
import { patternSchema } from '../patternSchema.ts';
import { namespaceSelectorSchema, specSchema as weightSpecSchema } from '../trafficweight/specSchema.ts';
import { labelsSchema, tolerationsSchema } from './placementSchema.ts';
import type { NodeExporterSpec } from './trafficStack.ts';
import { isObject, LABEL, LARGEST_PORT } from './workloadSchema.ts';

const LONGEST_IMAGE = 512;
/** Of the namespaceSelector. The API server multiplies the cost of its rules by the number of components that a stack may have. */
const SELECTOR_LIMITS = { requirements: 5, values: 25 };

const image = z
  .string()
  .min(1)
  .max(LONGEST_IMAGE)
  .optional()
  .meta({ description: 'Image. Default: that of the operator.' });
const priorityClassName = z
  .string()
  .min(1)
  .optional()
  .meta({ description: 'Priority of the pods. Default: that of the operator.' });
const resources = z.custom<NonNullable<NodeExporterSpec['resources']>>(isObject, 'must be an object').optional().meta({
  'x-pod-template': 'spec.containers.items.resources',
  description: 'Requests and limits of the container. They replace those of the operator.',
});

/** Schema of `spec.components[].nodeExporter`. */
export const nodeExporterSchema = z
  .object({
    image,
    port: z
      .int()
      .min(1)
      .max(LARGEST_PORT)
      .optional()
      .meta({ format: 'int32', description: 'TCP port, free on every node. Default: that of the operator.' }),
    priorityClassName,
    resources,
  })
  .optional()
  .meta({ description: 'Settings of the type NodeExporter. What is absent is as the flags of the operator say.' });

/** Schema of `spec.components[].prometheus`. */
export const prometheusSchema = z
  .object({
    image,
    priorityClassName,
    nodeSelector: labelsSchema('Labels of the nodes that Prometheus may run on. They replace those of the operator.'),
    tolerations: tolerationsSchema('Taints that Prometheus tolerates. They replace those of the operator.'),
    resources,
  })
  .optional()
  .meta({ description: 'Settings of the type Prometheus. What is absent is as the flags of the operator say.' });

/** Schema of `spec.components[].connectivityServer`. */
export const connectivityServerSchema = z
  .object({
    priorityClassName,
    nodeSelector: labelsSchema('Labels of the nodes that the server may run on. They replace those of the operator.'),
    tolerations: tolerationsSchema('Taints that the server tolerates. They replace those of the operator.'),
    resources,
  })
  .optional()
  .meta({
    description: 'Settings of the type ConnectivityServer. What is absent is as the flags of the operator say.',
  });

/** Schema of `spec.components[].connectivityAgents`. */
export const connectivityAgentsSchema = z
  .object({
    priorityClassName,
    nodeSelector: labelsSchema('Labels of the nodes that run agents. They replace those of the operator.'),
    resources,
  })
  .optional()
  .meta({
    description: 'Settings of the type ConnectivityAgents. What is absent is as the flags of the operator say.',
  });

/** Schema of `spec.components[].weights`: that of `spec` of a TrafficWeight. */
export const weightsSchema = weightSpecSchema
  .extend({ namespaceSelector: namespaceSelectorSchema(SELECTOR_LIMITS) })
  .optional()
  .meta({ description: 'Of the type Weights: the spec of its TrafficWeight. Not used if mode is External.' });

const namespaceOf = (what: string) =>
  patternSchema(`Namespace of ${what}, which must exist. Default: that of the operator.`, LABEL).optional();

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
