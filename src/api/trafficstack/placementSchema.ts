import * as z from 'zod';
import { patternSchema } from '../patternSchema.ts';
import { DEFAULT_TOPOLOGY_KEY, LOG_LEVELS } from './terms.ts';
import type { CommonSpec, NodeExporterSpec } from './trafficStack.ts';
import { isObject, MOST_REPLICAS } from './workloadSchema.ts';

/** The key of a label, with or without a prefix, as Kubernetes has it. */
const LABEL_KEY = {
  pattern: '^([-a-z0-9.]{1,253}/)?[a-zA-Z0-9]([-._a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$',
  message: 'must be the key of a label of nodes, such as "topology.kubernetes.io/zone"',
  longest: 317,
};
/** A subdomain of DNS, RFC 1123, as Kubernetes has it for most names. */
export const OBJECT_NAME = {
  pattern: '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$',
  message: 'must be 1 to 253 lower-case letters, digits, "-" and ".", such as "registry"',
  longest: 253,
};
const COUNT_MESSAGE = 'must have replicas, or a nodeSelector whose nodes are counted';
const MOST_TOLERATIONS = 50;
const MOST_SECRETS = 20;

/** Labels of nodes. */
export const labelsSchema = (description: string) =>
  z.record(z.string(), z.string()).optional().meta({ description, 'x-kubernetes-map-type': 'atomic' });

const toleration = z
  .custom<NonNullable<CommonSpec['tolerations']>[number]>(isObject, 'must be an object')
  .meta({ 'x-pod-template': 'spec.tolerations.items' });

/** Taints that pods tolerate. */
export const tolerationsSchema = (description: string) =>
  z.array(toleration).max(MOST_TOLERATIONS).optional().meta({ description, 'x-kubernetes-list-type': 'atomic' });

const nodeAffinity = z
  .custom<NonNullable<NonNullable<NodeExporterSpec['affinity']>['nodeAffinity']>>(isObject, 'must be an object')
  .meta({ 'x-pod-template': 'spec.affinity.nodeAffinity' });

/** Affinity to nodes. */
export const nodeAffinitySchema = (description: string) =>
  z.object({ nodeAffinity: nodeAffinity.optional() }).optional().meta({ description });

/** Schema of `spec.common`. */
export const commonSchema = z
  .object({
    nodeSelector: labelsSchema(
      'Labels of the nodes that pods run on. A key in the template of a component takes precedence.',
    ),
    tolerations: tolerationsSchema('Taints that pods tolerate, in addition to the tolerations of their template.'),
    imagePullSecrets: z
      .array(z.object({ name: patternSchema('Name of a Secret.', OBJECT_NAME) }).meta({ description: 'A Secret.' }))
      .max(MOST_SECRETS)
      .optional()
      .meta({
        description:
          'Secrets for pulling images, in the namespace of each component. A template with its own keeps them.',
        'x-kubernetes-list-type': 'atomic',
      }),
    priorityClassName: z.string().optional().meta({
      description: 'Priority class of the pods. A template with its own keeps it.',
    }),
    logLevel: z
      .enum(LOG_LEVELS)
      .optional()
      .meta({
        description: `For configuration files, as \${common.logLevel}: ${LOG_LEVELS.join(', ')}. Default: info.`,
      }),
  })
  .optional()
  .meta({
    description:
      'Defaults for the pods of all components. A NodeExporter and ConnectivityAgents use only imagePullSecrets and priorityClassName; a Prometheus and a ConnectivityServer use all but logLevel.',
  });

/** Schema of `spec.highAvailability`. */
export const highAvailabilitySchema = z
  .object({
    replicas: z.int().min(1).max(MOST_REPLICAS).optional().meta({
      format: 'int32',
      description: 'Pods of a component that has no replicas of its own. Default: one for each node of nodeSelector.',
    }),
    nodeSelector: labelsSchema('Labels of the nodes that the pods run on.'),
    topologyKey: patternSchema(
      `Label of nodes: the pods are spread over its values. Default: "${DEFAULT_TOPOLOGY_KEY}".`,
      LABEL_KEY,
    ).optional(),
  })
  .refine(({ replicas, nodeSelector }) => replicas !== undefined || nodeSelector !== undefined, COUNT_MESSAGE)
  .optional()
  .meta({
    description: 'Spreads the pods of Deployments and StatefulSets, and keeps drains from taking several at a time.',
    'x-kubernetes-validations': [{ rule: 'has(self.replicas) || has(self.nodeSelector)', message: COUNT_MESSAGE }],
  });
