import * as z from 'zod';
import { int64, OBJECT_FIELDS } from '../fieldSchemas.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import type { CustomResource } from '../crd.ts';

/** Names of nodes and pods: DNS-1123 subdomains. */
export const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
export const MOST_CHARACTERS = 253;
export const NAME_MESSAGE = 'must be a DNS subdomain: lower-case letters, digits, "-" and ".", up to 253 characters';
const TEXT = 'must be a text';
const LIST = 'must be a list';
const MAP = 'must be an object with lists of texts';
const DATE_MESSAGE = 'must be a date and time of RFC 3339';
/**
 * The most keys of a map, addresses of an interface and probes in a report. A node with 1,000 pods has 1,000 interfaces, and
 * kube-proxy with IPVS gives one interface (kube-ipvs0) the addresses of all Services.
 */
const MOST_KEYS = 4_096;
const MOST_ADDRESSES = 4_096;
const MOST_PROBES = 256;

const text = (most: number) => z.string(TEXT).max(most, `must have at most ${most} characters`);
const most = (entries: number): string => `must have at most ${entries} entries`;

const count = (description: string) =>
  z.int('must be a whole number').nonnegative('must be 0 or more').optional().meta({ type: 'integer', description });

/** Any integer: the original agent sends 9223372036854 ms for a time that it did not measure. */
const integer = (description: string) =>
  z.int('must be a whole number').optional().meta({ type: 'integer', format: 'int64', description });

const addresses = (description: string) =>
  z
    .record(z.string(), z.array(text(1_024), LIST).max(MOST_ADDRESSES, most(MOST_ADDRESSES)).nullable(), MAP)
    .refine((map) => Object.keys(map).length <= MOST_KEYS, `must have at most ${MOST_KEYS} keys`)
    .nullable()
    .optional()
    .meta({ description });

/** The result of one HTTP probe. k8s-netchecker-agent defined the names. Times are whole milliseconds. */
const probeSchema = z.object({
  URL: text(2_048).meta({ description: 'The URL that was requested.' }),
  ConnectionResult: integer('1 if the connection was established, else 0.'),
  HTTPCode: integer('The status of the response; 0 without one.'),
  Total: integer('From the start to the end of the response, ms.'),
  ContentTransfer: integer('From the first byte of the response to its end, ms.'),
  TCPConnection: integer('The TCP handshake, ms.'),
  DNSLookup: integer('The name lookup, ms.'),
  Connect: integer('The name lookup and the TCP handshake, ms.'),
  ServerProcessing: integer('From the request to the first byte of the response, ms.'),
});

/** The measurements of an agent: the spec of an Agent, and the body of its POST without `zero_extender`. */
export const reportSchema = z
  .object({
    report_interval: z
      .int('must be a whole number')
      .min(1, 'must be from 1 to 86400')
      .max(86_400, 'must be from 1 to 86400')
      .meta({ type: 'integer', format: 'int32', description: 'Interval of the reports, seconds.' }),
    nodename: z
      .string(TEXT)
      .max(MOST_CHARACTERS, NAME_MESSAGE)
      .refine((text) => text === '' || NAME.test(text), NAME_MESSAGE)
      .meta({ description: 'The node that the agent runs on.' }),
    podname: z
      .string(TEXT)
      .max(MOST_CHARACTERS, NAME_MESSAGE)
      .regex(NAME, NAME_MESSAGE)
      .meta({ description: 'The pod of the agent.' }),
    hostdate: z
      .string(TEXT)
      .refine((text) => isDate(text), DATE_MESSAGE)
      .optional()
      .meta({ description: 'Time of the report by the clock of the node, RFC 3339.' }),
    uptime: count('Time since the node was started, seconds.'),
    last_updated: z.string().optional().meta({ description: 'Time by the clock of the server, RFC 3339.' }),
    nslookup: addresses('The addresses of the name of the server, by name.'),
    network_probes: z
      .array(probeSchema, LIST)
      .max(MOST_PROBES, most(MOST_PROBES))
      .nullable()
      .optional()
      .meta({ description: 'HTTP probes.' }),
    ips: addresses('The addresses of the interfaces in CIDR notation, by interface.'),
  })
  .meta({ description: 'The last report of the agent.' });

/** The counters that the server keeps of an agent, next to its last report. */
const agentStatusSchema = z
  .object({
    reportCount: int64('Reports of the agent since it was started.'),
    errorCount: int64('Reports of the agent that did not arrive.'),
  })
  .optional()
  .meta({ description: 'Counters of the server, kept over its restarts.' });

export type ProbeResult = Required<z.infer<typeof probeSchema>>;
export type Report = z.infer<typeof reportSchema>;

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));
}

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
