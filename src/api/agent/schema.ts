import * as z from 'zod';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import { OBJECT_FIELDS } from '../objectFields.ts';
import type { CustomResource } from '../crd.ts';
import { agentStatusSchema, reportSchema, type Report } from './report.ts';

/** The last report of one connectivity agent. k8s-netchecker-server defined its group, version and kind. */
export interface Agent extends KubeObject {
  spec: Report;
  status?: z.infer<typeof agentStatusSchema>;
}

export const AGENTS: Resource<Agent> = {
  group: 'network-checker.ext',
  version: 'v1',
  kind: 'Agent',
  plural: 'agents',
  namespaced: true,
};

const agentSchema = z
  .object({
    ...OBJECT_FIELDS,
    spec: reportSchema,
    status: agentStatusSchema,
  })
  .meta({ description: 'The last report of a connectivity agent. The connectivity server writes it.' });

/** The CRD without its schema. */
export const agentResource: CustomResource = {
  resource: AGENTS,
  schema: agentSchema,
  singular: 'agent',
  shortNames: [],
  categories: ['traffic'],
  // Thousands of agents report all the time: one write keeps the report and its counters.
  hasStatusSubresource: false,
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.nodename' },
    { name: 'Interval', type: 'integer', jsonPath: '.spec.report_interval' },
    { name: 'Updated', type: 'date', jsonPath: '.spec.last_updated' },
    { name: 'Reports', type: 'integer', jsonPath: '.status.reportCount', priority: 1 },
    { name: 'Errors', type: 'integer', jsonPath: '.status.errorCount', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
