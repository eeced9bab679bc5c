import * as z from 'zod';
import { OBJECT_FIELDS } from '../objectFields.ts';
import { conditionPath, type CustomResource } from '../crd.ts';
import { CONNECTIVITY_CHECKS } from './connectivityCheck.ts';
import { specSchema } from './specSchema.ts';
import { statusSchema } from './statusSchema.ts';

/** The whole object. The CRD's schema is generated from it (see crd.ts). */
export const connectivityCheckSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: specSchema,
    status: statusSchema,
  })
  .meta({
    description: 'Checks the network between the nodes of the cluster, and names the node, link or plane at fault.',
  });

/** The CRD without its schema. Columns with a priority appear only with `-o wide`. */
export const connectivityCheckResource: CustomResource = {
  resource: CONNECTIVITY_CHECKS,
  schema: connectivityCheckSchema,
  singular: 'connectivitycheck',
  shortNames: ['cc'],
  categories: ['traffic'],
  columns: [
    { name: 'Verdict', type: 'string', jsonPath: '.status.verdict' },
    { name: 'Findings', type: 'string', jsonPath: '.status.summary' },
    { name: 'Agents', type: 'integer', jsonPath: '.status.agents' },
    { name: 'Reporting', type: 'integer', jsonPath: '.status.reportingAgents' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready'), priority: 1 },
    { name: 'Server', type: 'string', jsonPath: conditionPath('ServerReachable'), priority: 1 },
    { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes', priority: 1 },
    { name: 'Excluded', type: 'integer', jsonPath: '.status.excludedNodes', priority: 1 },
    { name: 'Pairs', type: 'integer', jsonPath: '.status.observedPairs', priority: 1 },
    { name: 'Affected', type: 'integer', jsonPath: '.status.affectedPairs', priority: 1 },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: conditionPath('Healthy', 'reason'),
      priority: 1,
    },
  ],
};
