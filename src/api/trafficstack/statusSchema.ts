import * as z from 'zod';
import { conditionsSchema } from '../conditionsSchema.ts';
import { int32, int64 } from '../integerSchema.ts';
import { COMPONENT_STATES } from './terms.ts';
import { rolledBackFromSchema } from './upgradeSchema.ts';

const time = (description: string) => z.string().meta({ format: 'date-time', description });
const text = (description: string) => z.string().meta({ description });
const names = (description: string) =>
  z.array(z.string()).optional().meta({ description, 'x-kubernetes-list-type': 'atomic' });

const waitingOn = z
  .object({
    component: text('The component at the root of the chain.'),
    what: text('Its object, such as "StatefulSet shop/db", or the field that keeps it from being changed.'),
    observed: text('What was observed there.'),
    since: time('Since when that is so.'),
  })
  .optional()
  .meta({ description: 'What has to happen first, if the component waits.' });

const lastDecided = z
  .object({
    state: text('Its state.'),
    reason: text('Why, in one CamelCase word.'),
    message: text('The same for people.'),
    since: time('Since when it was in that state.'),
    replicas: int32('Pods that there should be.'),
  })
  .optional()
  .meta({
    description:
      'What was decided last. Set while nothing is decided, since the spec is invalid or something cannot be read.',
  });

const reference = z.object({ kind: text('Kind.'), namespace: text('Namespace.'), name: text('Name.') });

const uses = reference
  .extend({ url: text('Of a Prometheus: where the operator asks it.').optional() })
  .optional()
  .meta({
    description:
      'The workload or Service of somebody else that a built-in component uses. Of a node-exporter that no workload runs: the first Node that has it.',
  });

const component = z
  .object({
    name: text('Name of the component.'),
    type: text('Type of the component.'),
    // No enum: an older CRD would then reject a status with a word that is new.
    mode: z.string().optional().meta({
      description: "External: its workload is somebody else's, and is not written. Absent: it is of the stack.",
    }),
    uses,
    state: text(`One of ${COMPONENT_STATES.join(', ')}.`),
    reason: text('Why, in one CamelCase word.'),
    message: text('The same for people.'),
    since: time('When the state last changed.'),
    blockedBy: names(
      'The components that it waits for: that it depends on, of an earlier wave of an upgrade, or that are being removed.',
    ),
    waitingOn,
    replicas: int32('Pods that there should be.'),
    readyReplicas: int32('Pods of these that are available.'),
    version: z
      .string()
      .optional()
      .meta({ description: 'Image of the first container, as asked for; as it is if the mode is External.' }),
    revision: z.string().optional().meta({
      description: 'Another text after each change of its spec. That of the restored objects with rolledBackFrom.',
    }),
    readyRevision: z.string().optional().meta({
      description: 'The same, if it was ready with this revision and is Ready, Degraded or Unknown since.',
    }),
    lastReadyRevision: z.string().optional().meta({
      description: 'The revision with which it was ready last, while it is not ready with the present one.',
    }),
    unreadyRevision: z.string().optional().meta({
      description: 'The revision that was applied last, if it was never ready with it.',
    }),
    rolledBackFrom: rolledBackFromSchema,
    lastDecided,
  })
  .meta({ description: 'The state of one component.' });

const inventoryEntry = z
  .object({
    component: text('Name of the component.'),
    dependsOn: z
      .array(z.string())
      .meta({ description: 'What it depended on when it was applied.', 'x-kubernetes-list-type': 'atomic' }),
    objects: z
      .array(reference.meta({ description: 'An object.' }))
      .meta({ description: 'Its objects.', 'x-kubernetes-list-type': 'atomic' }),
  })
  .meta({ description: 'The objects of one component.' });

/** Schema of `status`. */
export const statusSchema = z
  .object({
    observedGeneration: int64('The generation of the spec that the status refers to.'),
    summary: z.string().optional().meta({ description: 'Ready components of all, such as "3/5".' }),
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
        description: 'What was, or is about to be, created, so that it can be removed in order.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['component'],
      }),
    conditions: conditionsSchema('Ready, Progressing, Degraded, Stalled.'),
  })
  .optional()
  .meta({ description: 'How far the stack is.' });
