import * as z from 'zod';
import { durationSchema } from '../durationSchema.ts';
import { patternSchema } from '../patternSchema.ts';
import { COMPONENT_MODES, COMPONENT_TYPES, DEFAULT_DEADLINE, WORKLOAD_KINDS } from './terms.ts';
import type { WorkloadSpec } from './trafficStack.ts';

/** A label of DNS, RFC 1123: the names of components are values of labels, and of Services. */
const LABEL = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
  message: 'must be 1 to 63 lower-case letters, digits and "-", such as "database"',
  longest: 63,
};
const MOST_COMPONENTS = 200;
const MOST_DEPENDENCIES = 50;
/** IANA service name, as the API of Kubernetes wants the names of ports. */
const PORT_NAME = {
  pattern: '^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$',
  message: 'must be 1 to 15 lower-case letters, digits and "-", such as "http"',
  longest: 15,
};
/** The API server limits the cost of all rules together. */
const MOST_SERVICES = 10;
const MOST_PORTS = 20;
const MOST_REPLICAS = 10_000;
const LARGEST_PORT = 65_535;
const DAEMON_MESSAGE = 'replicas: must be absent for a DaemonSet, which has one pod on each node';

const port = (description: string) => z.int().min(1).max(LARGEST_PORT).meta({ format: 'int32', description });

const service = z
  .object({
    name: patternSchema('Name of the Service. Default: that of the workload.', LABEL).optional(),
    headless: z.boolean().optional().meta({
      description: 'Whether its name has the addresses of the pods, and no address of its own. Default: false.',
    }),
    ports: z
      .array(
        z
          .object({
            name: patternSchema('Name of the port. Needed if there are several.', PORT_NAME).optional(),
            port: port('Port of the Service.'),
            targetPort: port('Port of the pods. Default: that of the Service.').optional(),
          })
          .meta({ description: 'A port.' }),
      )
      .min(1)
      .max(MOST_PORTS)
      .meta({ description: 'Ports of the Service.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .meta({ description: 'A Service of the pods.' });

const workload = z
  .object({
    kind: z.enum(WORKLOAD_KINDS).meta({ description: `What runs the pods: ${WORKLOAD_KINDS.join(', ')}.` }),
    namespace: patternSchema('Namespace of the objects. It must exist.', LABEL),
    name: patternSchema('Name of the workload. Default: that of the component.', LABEL).optional(),
    replicas: z.int().min(0).max(MOST_REPLICAS).optional().meta({
      format: 'int32',
      description: 'Pods of a Deployment or StatefulSet. Default: 1.',
    }),
    podTemplate: z.custom<WorkloadSpec['podTemplate']>(isObject, 'must be an object').meta({
      'x-pod-template': true,
      description: 'The pods, as in a Deployment. The labels that select them are added.',
    }),
    services: z
      .array(service)
      .max(MOST_SERVICES)
      .optional()
      .meta({ description: 'Services of the pods.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .superRefine(({ kind, replicas }, context) => {
    if (kind === 'DaemonSet' && replicas !== undefined) context.addIssue({ code: 'custom', message: DAEMON_MESSAGE });
  })
  .meta({
    description: 'Pods that a controller of Kubernetes runs.',
    'x-kubernetes-validations': [{ rule: "self.kind != 'DaemonSet' || !has(self.replicas)", message: DAEMON_MESSAGE }],
  });

const component = z
  .object({
    name: patternSchema('Name of the component, unique in the stack.', LABEL),
    type: z.enum(COMPONENT_TYPES).meta({ description: `What it is: ${COMPONENT_TYPES.join(', ')}.` }),
    mode: z.enum(COMPONENT_MODES).optional().meta({
      description: 'Managed: its objects are created and kept. Disabled: they are deleted. Default: Managed.',
    }),
    dependsOn: z.array(patternSchema('Name of a component.', LABEL)).max(MOST_DEPENDENCIES).optional().meta({
      description: 'Components of the stack that must be ready before anything of this one is created or changed.',
      'x-kubernetes-list-type': 'set',
    }),
    deadline: durationSchema(`How long its pods may take until it counts as failed. Default: "${DEFAULT_DEADLINE}".`),
    workload,
  })
  .meta({ description: 'One part of the stack.' });

/** Schema of `spec`. */
export const specSchema = z
  .object({
    components: z
      .array(component)
      .max(MOST_COMPONENTS)
      .meta({
        description:
          'The parts of the stack. They are brought up in the order of their dependencies, else in parallel.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
  })
  .meta({ description: 'Which components there are, and which of them need which.' });

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
