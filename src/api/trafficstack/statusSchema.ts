import * as z from 'zod';
import { conditionsSchema, int32, int64 } from '../fieldSchemas.ts';
import { COMPONENT_STATES } from './terms.ts';

const time = (description: string) => z.string().meta({ format: 'date-time', description });
const text = (description: string) => z.string().meta({ description });
const names = (description: string) =>
  z.array(z.string()).optional().meta({ description, 'x-kubernetes-list-type': 'atomic' });

const waitingOn = z
  .object({
    component: text('Component at the root of the chain of waiting components.'),
    what: text('Its object, such as "StatefulSet shop/db", or the field that keeps it from being changed.'),
    observed: text('State of that object or field.'),
    since: time('Since when it has this state.'),
  })
  .optional()
  .meta({ description: 'The root cause, if the component waits.' });

const rolledBackFrom = z
  .object({
    revision: z.string().meta({ description: 'The revision that missed its deadline. It is not applied again.' }),
    version: z.string().optional().meta({ description: 'Image of its first container.' }),
    message: z.string().meta({ description: 'State of the component at the deadline.' }),
  })
  .optional()
  .meta({
    description: 'Set while the component runs with its last ready revision instead of the revision in the spec.',
  });

const lastDecided = z
  .object({
    state: text('Its state.'),
    reason: text('Reason of the state, one CamelCase word.'),
    message: text('The reason as a sentence.'),
    since: time('Since when it was in that state.'),
    replicas: int32('Number of requested pods.'),
  })
  .optional()
  .meta({
    description:
      'The last state. Set while the state is Unknown, because the spec is invalid or something cannot be read.',
  });

const reference = z.object({ kind: text('Kind.'), namespace: text('Namespace.'), name: text('Name.') });

const uses = reference
  .extend({
    url: text('URL of a Prometheus.').optional(),
    fromSpec: z.boolean().optional().meta({ description: 'True if external of the component names it.' }),
  })
  .optional()
  .meta({
    description:
      'The object of another owner that the component uses, also while it does not exist. If no workload runs the node-exporter: the first Node that has it.',
  });

const component = z
  .object({
    name: text('Name of the component.'),
    type: text('Type of the component.'),
    // No enum: an older CRD would then reject a status with a word that is new.
    mode: z.string().optional().meta({
      description:
        'External: another owner manages the workload, and the stack never writes it. Absent: the stack manages it.',
    }),
    uses,
    state: text(`One of ${COMPONENT_STATES.join(', ')}.`),
    reason: text('Reason of the state, one CamelCase word.'),
    message: text('The reason as a sentence.'),
    since: time('When the state last changed.'),
    blockedBy: names(
      'The components that it waits for: its dependencies, components of an earlier wave of an upgrade, or components that are being removed.',
    ),
    waitingOn,
    replicas: int32('Number of requested pods.'),
    readyReplicas: int32('Number of these pods that are available.'),
    version: z.string().optional().meta({
      description: 'Image of the first container: the requested image; with mode External, the image that runs.',
    }),
    revision: z.string().optional().meta({
      description: 'Hash of the settings of the component. With rolledBackFrom: the revision of the restored objects.',
    }),
    readyRevision: z.string().optional().meta({
      description:
        'Equal to revision if the component was ready with it, and has been Ready, Degraded or Unknown since.',
    }),
    lastReadyRevision: z.string().optional().meta({
      description: 'The revision with which the component was ready last, while it is not ready with the present one.',
    }),
    earlierReadyRevision: z.string().optional().meta({
      description:
        'The revision with which the component was ready before readyRevision or lastReadyRevision. A return to it waits for nothing.',
    }),
    unreadyRevision: z.string().optional().meta({
      description: 'The revision that was applied last, if the component was never ready with it.',
    }),
    rolledBackFrom,
    lastDecided,
  })
  .meta({ description: 'The state of one component.' });

const inventoryObject = reference
  .extend({
    completed: z.string().optional().meta({
      description:
        'Of a Job that has completed: the hash of its manifest. It does not run again, also if it is deleted.',
    }),
  })
  .meta({ description: 'An object.' });

const inventoryEntry = z
  .object({
    component: text('Name of the component.'),
    dependsOn: z
      .array(z.string())
      .meta({ description: 'Its dependencies when it was applied.', 'x-kubernetes-list-type': 'atomic' }),
    objects: z.array(inventoryObject).meta({ description: 'Its objects.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .meta({ description: 'The objects of one component.' });

/** Schema of `status`. */
export const statusSchema = z
  .object({
    observedGeneration: int64('The generation of the spec that the status refers to.'),
    summary: z
      .string()
      .optional()
      .meta({ description: 'Number of ready components and of all components, such as "3/5".' }),
    components: z
      .array(component)
      .optional()
      .meta({
        description:
          'The state of each component, in the order of their dependencies, then those that are being removed.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    inventory: z
      .array(inventoryEntry)
      .optional()
      .meta({
        description:
          'The objects that exist or are about to be created. They are removed in reverse order of the dependencies.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['component'],
      }),
    conditions: conditionsSchema('Ready, Progressing, Degraded, Stalled.'),
  })
  .optional()
  .meta({ description: 'The state of the stack and of its components.' });
