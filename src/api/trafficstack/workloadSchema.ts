import * as z from 'zod';
import { patternSchema } from '../patternSchema.ts';
import { CLAIM_POLICIES, WORKLOAD_KINDS } from './terms.ts';
import type { WorkloadSpec } from './trafficStack.ts';

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
const MOST_CLAIMS = 10;
export const LARGEST_PORT = 65_535;
export const MOST_REPLICAS = 10_000;
const DAEMON_MESSAGE = 'replicas: must be absent for a DaemonSet, which has one pod on each node';
const CLAIMS_MESSAGE = 'volumeClaimTemplates: only a StatefulSet has them';

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
    podTemplate: z.custom<NonNullable<WorkloadSpec['podTemplate']>>(isObject, 'must be an object').optional().meta({
      'x-pod-template': true,
      description: 'The pods, as in a Deployment. The labels that select them are added. Not used if mode is External.',
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
        z.custom<NonNullable<WorkloadSpec['volumeClaimTemplates']>[number]>(isObject, 'must be an object').meta({
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
  .superRefine(({ kind, replicas, volumeClaimTemplates = [] }, context) => {
    if (kind === 'DaemonSet' && replicas !== undefined) context.addIssue({ code: 'custom', message: DAEMON_MESSAGE });
    if (kind === 'StatefulSet' || volumeClaimTemplates.length === 0) return;
    context.addIssue({ code: 'custom', message: CLAIMS_MESSAGE });
  })
  .meta({
    description: 'Pods that a controller of Kubernetes runs.',
    'x-kubernetes-validations': [
      { rule: "self.kind != 'DaemonSet' || !has(self.replicas)", message: DAEMON_MESSAGE },
      { rule: "self.kind == 'StatefulSet' || !has(self.volumeClaimTemplates)", message: CLAIMS_MESSAGE },
    ],
  });

export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
