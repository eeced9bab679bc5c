import * as z from 'zod';
import { conditionsSchema } from '../../../src/api/fieldSchemas.ts';
import type { CustomResource } from '../../../src/api/crd.ts';
import type { KubeObject, Resource } from '../../../src/runtime/client/resource.ts';
import type { Condition } from '../../../src/runtime/controller/conditions.ts';

/** A kind that counts nodes: how many have a name that begins so. */
export interface NodeCount extends KubeObject {
  spec: { namePrefix: string };
  status?: { nodes?: number; conditions?: Condition[] };
}

export const NODE_COUNTS: Resource<NodeCount> = {
  group: 'example.traffic.example.com',
  version: 'v1',
  kind: 'NodeCount',
  plural: 'nodecounts',
  namespaced: true,
};

export const nodeCountResource: CustomResource = {
  resource: NODE_COUNTS,
  schema: z.object({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    metadata: z.object({}).optional(),
    spec: z.object({ namePrefix: z.string().describe('Nodes whose names begin with this are counted.') }),
    status: z
      .object({ nodes: z.int().optional(), conditions: conditionsSchema('How the counting goes.').optional() })
      .optional(),
  }),
  singular: 'nodecount',
  shortNames: [],
  categories: [],
  columns: [{ name: 'Nodes', type: 'integer', jsonPath: '.status.nodes' }],
};
