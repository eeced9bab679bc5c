import * as z from 'zod';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { CustomResource } from '../crd.ts';
import { GROUP } from '../group.ts';
import { labelSelectorSchema } from '../labelSelector.ts';
import { OBJECT_FIELDS } from '../fieldSchemas.ts';
import { VERSION } from '../trafficwatch/schema.ts';
import { PLACEMENTS } from '../trafficwatch/spec/placement.ts';

/** The name of the only PodPlacement of a namespace. */
export const POD_PLACEMENT_NAME = 'traffic-operator';

/** The schema of one entry. It drops unknown fields. */
export const podPlacementEntrySchema = z
  .object({
    trafficWatch: z.string().meta({ description: 'Name of the TrafficWatch.' }),
    labelKey: z.string().meta({ description: 'Key of the node labels.' }),
    placement: z.enum(PLACEMENTS).meta({ description: 'How pods are kept off unfit nodes.' }),
    podSelector: labelSelectorSchema('The pods that get the node affinity.', 'Unchecked'),
    avoidedNodes: z.array(z.string()).optional().meta({
      'x-kubernetes-list-type': 'atomic',
      description: 'With placement AtCreation: names of the unfit nodes.',
    }),
  })
  .meta({ description: 'What one TrafficWatch adds to the pods that it selects.' });

/** The largest maximum that format int32 allows. */
const MOST_INT32 = 2 ** 31 - 1;
const positionsSchema = z.array(z.int().min(0).max(MOST_INT32).meta({ format: 'int32' }));

const specSchema = z
  .object({
    entries: z
      .array(podPlacementEntrySchema)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'atomic', description: 'One entry per TrafficWatch that places pods.' }),
    byLabel: z
      .record(z.string(), positionsSchema.meta({ 'x-kubernetes-list-type': 'atomic' }))
      .optional()
      .meta({
        'x-kubernetes-map-type': 'atomic',
        description: 'Positions in entries by one label, key=value, that their selectors require.',
      }),
    others: positionsSchema.optional().meta({
      'x-kubernetes-list-type': 'atomic',
      description: 'Positions in entries of selectors that require no value of a label.',
    }),
  })
  .meta({ description: 'The node affinity of new pods.' });

const podPlacementSchema = z.object({ ...OBJECT_FIELDS, spec: specSchema }).meta({
  description:
    'The node affinity that the admission policy adds to the new pods of this namespace. The operator writes it from the ' +
    'TrafficWatches of the namespace; do not edit it.',
});

/** The terms that one TrafficWatch adds to the pods that it selects. */
export type PodPlacementEntry = z.infer<typeof podPlacementEntrySchema>;
export type PodPlacementSpec = z.infer<typeof specSchema>;

/** The parameter of the admission policy: one per namespace, named POD_PLACEMENT_NAME. */
export interface PodPlacement extends KubeObject {
  spec: PodPlacementSpec;
}

export const POD_PLACEMENTS: Resource<PodPlacement> = {
  group: GROUP,
  version: VERSION,
  kind: 'PodPlacement',
  plural: 'podplacements',
  namespaced: true,
};

/** The CRD without its schema. */
export const podPlacementResource: CustomResource = {
  resource: POD_PLACEMENTS,
  schema: podPlacementSchema,
  singular: 'podplacement',
  shortNames: [],
  categories: ['traffic'],
  hasStatusSubresource: false,
  isInternal: true,
  columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};
