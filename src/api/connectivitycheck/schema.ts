import * as z from 'zod';
import { durationSchema, conditionsSchema, int32, int64 } from '../fieldSchemas.ts';
import { labelSelectorSchema } from '../labelSelector.ts';
import {
  DEFAULT_INTERVAL,
  DEFAULT_LOSS_PERCENT,
  DEFAULT_PEERS,
  PLANES,
  CONNECTIVITY_VERDICTS,
  EXCLUSIONS,
} from './terms.ts';
import { FINDING_CLASSES, SEVERITIES } from './finding.ts';

/** The most URLs that a check requests. Each agent requests each of them in each interval. */
export const MOST_URLS = 20;
/** Longest URL: bounds the cost of the rules that the API server evaluates. */
const LONGEST_URL = 1024;
/** A host without user and password, then a path, a query or nothing. JavaScript and RE2 read it alike. */
const URL_PATTERN = '^https?://[^/?#@ ]+([/?#][!-~]*)?$';
const URL_MESSAGE = 'must be an http or https URL without user and password, such as "https://example.org/healthz"';
const PLANES_MESSAGE = `must name each plane once: ${PLANES.join(', ')}`;

const url = z
  .string()
  .max(LONGEST_URL, URL_MESSAGE)
  .refine((text) => new RegExp(URL_PATTERN).test(text) && URL.canParse(text), URL_MESSAGE)
  .meta({
    'x-kubernetes-validations': [{ rule: `isURL(self) && self.matches('${URL_PATTERN}')`, message: URL_MESSAGE }],
  });

const planes = z
  .array(z.enum(PLANES))
  .min(1)
  .max(PLANES.length)
  .refine((given) => new Set(given).size === given.length, PLANES_MESSAGE)
  .optional()
  .meta({
    description:
      'The networks to check: Pod, the network of the pods; Host, the network of the nodes themselves. Default: both.',
    'x-kubernetes-list-type': 'set',
  });

function probe(description: string) {
  return z
    .boolean()
    .optional()
    .meta({ description: `${description} Default: true.` });
}

const probes = z
  .object({
    dns: probe('Query the DNS of the cluster, over UDP and TCP.'),
    apiServer: probe('Connect to the Service of the API server.'),
    mtu: probe('Search the largest packet that passes between two nodes.'),
    urls: z
      .array(url)
      .max(MOST_URLS)
      .optional()
      .meta({
        description: `URLs that each agent requests in each interval, at most ${MOST_URLS}: http or https, without user and password. Agents refuse addresses of their own node, loopback, link-local and others: see the condition URLsAllowed. Default: none.`,
        'x-kubernetes-list-type': 'set',
      }),
  })
  .optional()
  .meta({ description: 'Probes of the agents in addition to the agents of other nodes.' });

const thresholds = z
  .object({
    lossPercent: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({
        format: 'int32',
        description: `Percentage of lost datagrams between two nodes, at or above which the pair is Degraded. Default: ${DEFAULT_LOSS_PERCENT}.`,
      }),
  })
  .optional()
  .meta({ description: 'Limits at which the check reports a finding.' });

/** Schema of `spec`. */
export const specSchema = z
  .object({
    interval: durationSchema(
      `Time between two reports of an agent. With several checks, an agent reports at the shortest. Default: ${DEFAULT_INTERVAL}.`,
      { least: '5s', most: '1h', examples: '"15s", "1m" or "1m30s"' },
    ),
    peers: z
      .int()
      .min(1)
      .max(50)
      .optional()
      .meta({
        format: 'int32',
        description: `Number of other nodes that each agent probes on its plane. The server changes them over time. Default: ${DEFAULT_PEERS}.`,
      }),
    nodeSelector: labelSelectorSchema(
      'Selects the nodes that are checked, by their labels. Absent or empty: all nodes.',
      'Checked',
    ),
    planes,
    probes,
    thresholds,
  })
  .optional()
  .meta({ description: 'What to check, and how often. Every field is optional.' });

/** How many outages the status names. */
export const MOST_OUTAGES = 100;

/** Text of the status. No enum: an older CRD would then reject a status with a word that is new. */
function word(description: string, words: readonly string[] = []) {
  const allowed = words.length === 0 ? '' : ` One of ${words.join(', ')}.`;
  return z.string().meta({ description: `${description}${allowed}` });
}

function time(description: string) {
  return z.string().meta({ format: 'date-time', description });
}

const subjects = z.array(z.string()).meta({
  description:
    'What is at fault: nodes, links ("a -> b", "a <-> b"), zones, pods, "cluster", "server" or "reports". Without room, names ' +
    'lose the domain that they share, and then have "…" in their middle; a last entry "and N more" counts the ones that are left out.',
  'x-kubernetes-list-type': 'atomic',
});

const id = z
  .string()
  .optional()
  .meta({ description: 'Identifies class and full subjects, which may be shortened here.' });

const pair = z.object({
  from: word('Node that probes.'),
  to: word('Node that is probed.'),
  plane: word('Network that connects them.', PLANES),
  measured: word('Measurements of the pair, for example "TCP timeout, UDP 0 of 20 echoed".'),
});

const evidence = z
  .object({
    affectedPairs: int32('Ordered pairs of nodes on one plane that are affected.'),
    observedPairs: int32('Ordered pairs of nodes on one plane that were observed from or towards the subject.'),
    pairs: z.array(pair).optional().meta({
      description: 'Examples of the affected pairs, at most three; fewer if the status would become too long.',
      'x-kubernetes-list-type': 'atomic',
    }),
    lossPercent: int32('Lost datagrams in the affected pairs, in percent.'),
    largestPacketBytes: int32('With class MTU: the largest packet that passes, in bytes.'),
  })
  .optional()
  .meta({ description: 'Measurements that show the fault.' });

const finding = z
  .object({
    class: word('Class of the fault.', FINDING_CLASSES),
    subjects,
    id,
    severity: word('Failed: nothing gets through. Degraded: some packets do.', SEVERITIES),
    message: word('One sentence with names and measured values.'),
    evidence,
    since: time('When the finding appeared.'),
    unmeasuredSince: time(
      'Since when nothing measures what the finding is about: it stays until it is measured again, and does not count in the verdict. Absent if the last evaluation shows it.',
    ).optional(),
  })
  .meta({ description: 'A fault, and the measurements that show it.' });

const outage = z
  .object({
    class: word('Class of the finding.', FINDING_CLASSES),
    subjects,
    id,
    start: time('When the finding appeared.'),
    end: time('When the finding cleared. Absent while it exists.').optional(),
  })
  .meta({ description: 'A time in which a finding existed.' });

const excluded = z
  .object({ node: word('Name of the node.'), reason: word('Why the node is left out.', EXCLUSIONS) })
  .meta({ description: 'A node that is left out of findings.' });

function listOf<T extends z.ZodType>(entry: T, description: string) {
  return z.array(entry).optional().meta({ description, 'x-kubernetes-list-type': 'atomic' });
}

/** Schema of `status`. Its JSON is below 16 KiB whatever the size of the cluster. */
export const statusSchema = z
  .object({
    verdict: word('The sum of the check.', CONNECTIVITY_VERDICTS).optional(),
    summary: word(
      'The first finding, such as "PodNetwork node2", and the number of others, such as "PodNetwork node2 (+3)". Absent without findings.',
    ).optional(),
    observedGeneration: int64('The generation of the spec that the verdict and the findings refer to.'),
    conditions: conditionsSchema(
      'Ready, Healthy, ServerReachable, AgentsReporting; URLsAllowed once an agent has refused a URL.',
    ),
    nodes: int32('Number of nodes that the check selects.'),
    excludedNodes: int32(
      'Number of these nodes that are left out of findings, since they are not Ready, are cordoned, or are joining or leaving.',
    ),
    agents: int32(
      'Number of agents on these nodes that report, or should report. An agent that does not report is not counted on an excluded node.',
    ),
    reportingAgents: int32('Number of these agents with a current report.'),
    anonymousAgents: int32('Reporting agents that the server did not authenticate.'),
    observedPairs: int32('Ordered pairs of nodes on one plane in the last reports.'),
    affectedPairs: int32('Number of these pairs that failed or lost packets.'),
    unobservedNetworks: int32(
      'Number of networks of nodes, two for each node with an agent, that no pair says anything about. Absent if there are none.',
    ),
    unmeasured: listOf(
      z.string(),
      'Parts of the check without any result, such as "pod network" or "DNS over UDP": the verdict is not Healthy. Absent if there are none.',
    ),
    findings: listOf(finding, 'The present faults, Failed ones first, at most 12.'),
    omittedFindings: int32('Number of findings that are not listed.'),
    excluded: listOf(excluded, 'The nodes that are left out of findings, at most 10.'),
    outages: listOf(
      outage,
      `The last ${MOST_OUTAGES} times in which a finding existed, newest first; fewer if the status would become too long. A finding that comes back within a minute, or Degraded within ten minutes, continues its outage.`,
    ),
  })
  .optional()
  .meta({
    description:
      'The last result. Counts, messages and measured values are written at most once a minute, everything else at once.',
  });

/** The spec of a ConnectivityCheck: the fields that users write. Every field is optional. */
export type ConnectivityCheckSpec = NonNullable<z.infer<typeof specSchema>>;
