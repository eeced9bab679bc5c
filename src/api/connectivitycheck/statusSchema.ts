import * as z from 'zod';
import { conditionsSchema } from '../conditionsSchema.ts';
import { int32, int64 } from '../integerSchema.ts';
import { FINDING_CLASSES, SEVERITIES } from './finding.ts';
import { CONNECTIVITY_VERDICTS, EXCLUSIONS, PLANES } from './terms.ts';

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
