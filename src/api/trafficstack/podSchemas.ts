import type {
  V1DeploymentStrategy,
  V1PersistentVolumeClaimTemplate,
  V1PodTemplateSpec,
  V1NodeAffinity,
  V1Toleration,
} from '@kubernetes/client-node';
import * as z from 'zod';
import { patternSchema } from '../fieldSchemas.ts';
import {
  CLAIM_POLICIES,
  DEFAULT_TOPOLOGY_KEY,
  LOG_LEVELS,
  POD_MANAGEMENT_POLICIES,
  PROTOCOLS,
  WORKLOAD_KINDS,
} from './terms.ts';

/** A label of DNS, RFC 1123: the names of components are values of labels, and of Services. */
export const LABEL = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  message: 'must be 1 to 63 lower-case letters, digits and "-", such as "database"',
  longest: 63,
};
/** IANA service name, as the API of Kubernetes requires for the names of ports. */
const PORT_NAME = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$',
  message: 'must be 1 to 15 lower-case letters, digits and "-", such as "http"',
  longest: 15,
};
/** The name of a volume has up to 63 characters, of which the operator needs some. */
const CONFIG_NAME = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$',
  message: 'must be 1 to 50 lower-case letters, digits and "-", such as "etc"',
  longest: 50,
};
/** The path of a mount, as Kubernetes allows it; "/" alone would hide the whole image. */
const FOLDER = {
  pattern: '^/[^:]+$',
  message: 'must be an absolute path without ":", such as "/etc/app"',
  longest: 512,
};
/** The keys that a ConfigMap may have. */
const FILE_NAME = /^(?!\.\.?$|\.\.)[-._a-zA-Z0-9]{1,253}$/;
const FILE_NAME_MESSAGE = 'the names of files must be of letters, digits, "-", "_" and ".", and not begin with ".."';
/** The API server limits the cost of all rules together. */
const MOST_SERVICES = 10;
const MOST_PORTS = 20;
const MOST_CONFIGS = 10;
const MOST_FILES = 50;
export const MOST_CLAIMS = 10;
export const LARGEST_PORT = 65_535;
export const MOST_REPLICAS = 10_000;
const LONGEST_READY_SECONDS = 86_400;
const DAEMON_MESSAGE = 'replicas: must be absent for a DaemonSet, which has one pod on each node';
const CLAIMS_MESSAGE = 'volumeClaimTemplates: only a StatefulSet has them';
const STRATEGY_MESSAGE = 'strategy: only a Deployment has it; a StatefulSet or DaemonSet has updateStrategy';
const UPDATE_MESSAGE = 'updateStrategy: only a StatefulSet or DaemonSet has it; a Deployment has strategy';
const UPDATE_TYPE_MESSAGE = 'updateStrategy.type: must be RollingUpdate, since a change would never end with OnDelete';
const POLICY_MESSAGE = 'podManagementPolicy: only a StatefulSet has it';

const port = (description: string) => z.int().min(1).max(LARGEST_PORT).meta({ format: 'int32', description });

const service = z
  .object({
    name: patternSchema('Name of the Service. Default: the name of the workload.', LABEL).optional(),
    headless: z.boolean().optional().meta({
      description:
        'True: the name of the Service resolves to the addresses of the pods, and the Service has no address of its own. Default: false.',
    }),
    ports: z
      .array(
        z
          .object({
            name: patternSchema('Name of the port. Needed if there are several.', PORT_NAME).optional(),
            port: port('Port of the Service.'),
            targetPort: port('Port of the pods. Default: the port of the Service.').optional(),
            protocol: z
              .enum(PROTOCOLS)
              .optional()
              .meta({ description: `Protocol: ${PROTOCOLS.join(', ')}. Default: ${PROTOCOLS[0]}.` }),
          })
          .meta({ description: 'A port.' }),
      )
      .min(1)
      .max(MOST_PORTS)
      .meta({ description: 'Ports of the Service.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .meta({ description: 'A Service of the pods.' });

const config = z
  .object({
    name: patternSchema('Name of the folder, unique in the component.', CONFIG_NAME),
    mountPath: patternSchema('The folder in all containers.', FOLDER),
    files: z
      .record(z.string(), z.string())
      .superRefine((files, context) => {
        if (Object.keys(files).length > MOST_FILES) {
          context.addIssue({ code: 'custom', message: `must have at most ${MOST_FILES} files` });
        }
        const invalid = Object.keys(files).some((name) => !FILE_NAME.test(name));
        if (invalid) context.addIssue({ code: 'custom', message: FILE_NAME_MESSAGE });
      })
      .meta({
        maxProperties: MOST_FILES,
        description:
          'Contents by the name of the file. ${…} is a CEL expression over self, components.NAME for each dependency of the ' +
          'component ({addresses, port, ports, replicas, service, namespace, name}) and common; $${ is the text ${.',
      }),
  })
  .meta({ description: 'A folder of rendered files. A changed file replaces the pods.' });

/** Schema of `spec.components[].workload`. */
export const workloadSchema = z
  .object({
    kind: z
      .enum(WORKLOAD_KINDS)
      .meta({ description: `Kind of the object that runs the pods: ${WORKLOAD_KINDS.join(', ')}.` }),
    namespace: patternSchema('Namespace of the objects. It must exist.', LABEL),
    name: patternSchema('Name of the workload. Default: the name of the component.', LABEL).optional(),
    replicas: z.int().min(0).max(MOST_REPLICAS).optional().meta({
      format: 'int32',
      description: 'Pods of a Deployment or StatefulSet. Default: as in spec.highAvailability, else 1.',
    }),
    podTemplate: z.custom<V1PodTemplateSpec>(isObject, 'must be an object').optional().meta({
      'x-pod-template': true,
      description: 'The pods, as in a Deployment. The labels that select them are added. Not used if mode is External.',
    }),
    strategy: z
      .custom<V1DeploymentStrategy>(isObject, 'must be an object')
      .optional()
      .meta({
        'x-deployment-spec': 'strategy',
        description:
          'How a Deployment replaces its pods, as in a Deployment. Recreate ends the old pods first, which a hostPort or a ReadWriteOnce claim needs. ' +
          'Default: RollingUpdate.',
      }),
    updateStrategy: z.custom<V1DeploymentStrategy>(isObject, 'must be an object').optional().meta({
      'x-deployment-spec': 'strategy',
      description:
        'How a StatefulSet or DaemonSet replaces its pods: rollingUpdate with maxUnavailable, and maxSurge of a DaemonSet. The type is RollingUpdate.',
    }),
    minReadySeconds: z.int().min(0).max(LONGEST_READY_SECONDS).optional().meta({
      format: 'int32',
      description: 'Seconds for which a pod must be ready until it counts as available. Default: 0.',
    }),
    podManagementPolicy: z.enum(POD_MANAGEMENT_POLICIES).optional().meta({
      description:
        'Whether a StatefulSet starts and ends its pods one after the other or at once: OrderedReady (default) or Parallel. Kubernetes does not change it later.',
    }),
    services: z
      .array(service)
      .max(MOST_SERVICES)
      .optional()
      .meta({ description: 'Services of the pods.', 'x-kubernetes-list-type': 'atomic' }),
    config: z
      .array(config)
      .max(MOST_CONFIGS)
      .optional()
      .meta({
        description: 'Folders of rendered files in all containers.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    volumeClaimTemplates: z
      .array(
        z.custom<V1PersistentVolumeClaimTemplate>(isObject, 'must be an object').meta({
          'x-pod-template': 'spec.volumes.items.ephemeral.volumeClaimTemplate',
          description: 'A claim of each pod, as in a StatefulSet: metadata.name is the name of the volume.',
        }),
      )
      .max(MOST_CLAIMS)
      .optional()
      .meta({ description: 'Claims of each pod of a StatefulSet.', 'x-kubernetes-list-type': 'atomic' }),
    volumeClaimPolicy: z.enum(CLAIM_POLICIES).optional().meta({
      description:
        'Whether the claims are kept or deleted when their StatefulSet is removed, also because its name or kind has changed: Retain (default) or Delete.',
    }),
  })
  .superRefine((workload, context) => {
    const { kind, replicas, volumeClaimTemplates = [], strategy, updateStrategy, podManagementPolicy } = workload;
    const broken: readonly (readonly [boolean, string])[] = [
      [kind === 'DaemonSet' && replicas !== undefined, DAEMON_MESSAGE],
      [kind !== 'StatefulSet' && volumeClaimTemplates.length > 0, CLAIMS_MESSAGE],
      [kind !== 'Deployment' && strategy !== undefined, STRATEGY_MESSAGE],
      [kind === 'Deployment' && updateStrategy !== undefined, UPDATE_MESSAGE],
      [(updateStrategy?.type ?? 'RollingUpdate') !== 'RollingUpdate', UPDATE_TYPE_MESSAGE],
      [kind !== 'StatefulSet' && podManagementPolicy !== undefined, POLICY_MESSAGE],
    ];
    for (const [is, message] of broken) if (is) context.addIssue({ code: 'custom', message });
  })
  .meta({
    description: 'Pods that a controller of Kubernetes runs.',
    'x-kubernetes-validations': [
      { rule: "self.kind != 'DaemonSet' || !has(self.replicas)", message: DAEMON_MESSAGE },
      { rule: "self.kind == 'StatefulSet' || !has(self.volumeClaimTemplates)", message: CLAIMS_MESSAGE },
      { rule: "self.kind == 'Deployment' || !has(self.strategy)", message: STRATEGY_MESSAGE },
      { rule: "self.kind != 'Deployment' || !has(self.updateStrategy)", message: UPDATE_MESSAGE },
      {
        rule: "!has(self.updateStrategy) || !has(self.updateStrategy.type) || self.updateStrategy.type == 'RollingUpdate'",
        message: UPDATE_TYPE_MESSAGE,
      },
      { rule: "self.kind == 'StatefulSet' || !has(self.podManagementPolicy)", message: POLICY_MESSAGE },
    ],
  });

export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
  .custom<V1Toleration>(isObject, 'must be an object')
  .meta({ 'x-pod-template': 'spec.tolerations.items' });

/** Taints that pods tolerate. */
export const tolerationsSchema = (description: string) =>
  z.array(toleration).max(MOST_TOLERATIONS).optional().meta({ description, 'x-kubernetes-list-type': 'atomic' });

const nodeAffinity = z
  .custom<V1NodeAffinity>(isObject, 'must be an object')
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
