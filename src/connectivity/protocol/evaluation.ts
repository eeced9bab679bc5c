import * as z from 'zod';
import type { FindingClass, Severity } from '../../api/connectivitycheck/finding.ts';
import type { Exclusion, Plane } from '../../api/connectivitycheck/terms.ts';
import { problemTexts } from '../../api/problems.ts';
import type { Immutable, Target, TargetRefusal } from './measurement.ts';

/** Path of the evaluations: GET, answers with Evaluations as JSON. */
export const EVALUATIONS_PATH = '/api/v1/evaluations';

/** Limits that keep the status of a ConnectivityCheck below 16 KiB. */
export const MOST_FINDINGS = 12;
export const MOST_EXCLUDED = 10;
/** The most findings in `lasting` of one evaluation. A status has few findings; the limit bounds the size of the answer. */
export const MOST_LASTING = 50;
/** The most places in `unobserved` and in `unasked`: 40 KiB with long names. The operator keeps findings about the places beyond. */
export const MOST_UNOBSERVED = 500;

const count = z.int().min(0);

/** A word of a list that a newer server may extend. The operator shows an unknown word unchanged. */
function word<T extends string>() {
  return z
    .string()
    .regex(/^[A-Z][A-Za-z]{0,39}$/)
    .transform((text) => text as T);
}

const evidence = z.object({
  affectedPairs: count,
  observedPairs: count,
  pairs: z.array(z.object({ from: z.string(), to: z.string(), plane: word<Plane>(), measured: z.string() })),
  lossPercent: z.number().min(0).max(100).exactOptional(),
  largestPacketBytes: count.exactOptional(),
});

const finding = z.object({
  class: word<FindingClass>(),
  subjects: z.array(z.string()),
  severity: word<Severity>(),
  message: z.string(),
  evidence,
});

/** The counts of one ConnectivityCheck. A pair is ordered: from one node to another, on one plane. */
const counts = z.object({
  /** Nodes that the check selects. */
  nodes: count,
  /** Selected nodes that are left out. */
  excludedNodes: count,
  /** Agents that report, and silent or broken agents of nodes that are not left out. */
  agents: count,
  /** Agents with a current report. */
  reportingAgents: count,
  /** Reporting agents that were not authenticated. */
  anonymousAgents: count,
  /** Pairs in the last reports. */
  observedPairs: count,
  /** Observed pairs that failed, lost packets, or lose large packets. */
  affectedPairs: count,
  /** The networks of nodes that no pair says anything about, with those that `unobserved` leaves out. Absent if there are none. */
  unobservedNetworks: count.exactOptional(),
});

/** A URL of a check that agents do not request. */
const refusedUrl = z.object({
  url: z.string(),
  address: z.string(),
  reason: word<TargetRefusal>(),
  /** Agents that refuse it. */
  agents: count,
});

/** The server's result for one ConnectivityCheck. */
const evaluation = z.object({
  /** `metadata.generation` of the check that was evaluated. */
  generation: z.int().min(0),
  /** Failed ones first; at most MOST_FINDINGS. */
  findings: z.array(finding),
  /** Number of findings beyond MOST_FINDINGS. */
  omittedFindings: count,
  /**
   * The findings if nodes that are left out counted, and findings that one measurement shows and another has to confirm, at
   * most MOST_LASTING. A finding that is not in `findings` stays while it is here, and none begins by that. Absent if there are none.
   */
  lasting: z.array(finding).exactOptional(),
  /** Pairs in the last reports if nodes that are left out counted. Absent if all of these nodes work. */
  lastingPairs: count.exactOptional(),
  /**
   * Networks of nodes, those that are left out included, that no pair says anything about, at most MOST_UNOBSERVED. Without
   * the planes of which no pair says anything. Absent if there are none.
   */
  unobserved: z.array(z.object({ node: z.string(), plane: word<Plane>() })).exactOptional(),
  /**
   * Services of which a node with an agent has no result, although others have, nodes that are left out included, at most
   * MOST_UNOBSERVED. Absent if there are none.
   */
  unasked: z.array(z.object({ node: z.string(), target: word<Target>() })).exactOptional(),
  /** Parts of the check of which no node that is not left out has a result: see `Unmeasured`. Absent if there are none. */
  unmeasured: z
    .array(
      z.object({
        plane: word<Plane>().exactOptional(),
        of: z.string().max(40).exactOptional(),
        node: z.string().exactOptional(),
        count: count.exactOptional(),
      }),
    )
    .exactOptional(),
  counts,
  /** URLs of the check that agents refuse. Absent if there are none. */
  refused: z.array(refusedUrl).exactOptional(),
  /** Nodes that are left out, at most MOST_EXCLUDED, sorted by name. */
  excluded: z.array(z.object({ node: z.string(), reason: word<Exclusion>() })),
});

const evaluations = z.record(z.string(), evaluation);

export type EvaluationCounts = Immutable<z.infer<typeof counts>>;
export type RefusedUrls = Immutable<z.infer<typeof refusedUrl>>;
export type Evaluation = Immutable<z.infer<typeof evaluation>>;
/** By the name of the ConnectivityCheck. */
export type Evaluations = Immutable<z.infer<typeof evaluations>>;

/**
 * Parses the body of an answer. Ignores fields that it does not know, and takes words that it does not know: the server may be newer.
 *
 * @returns the evaluations, or one sentence with the invalid fields
 */
export function readEvaluations(body: string): { evaluations: Evaluations } | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return { problem: 'the answer is not JSON' };
  }
  const parsed = evaluations.safeParse(json);
  if (parsed.success) return { evaluations: parsed.data };
  return { problem: `the answer is invalid: ${problemTexts(json, parsed.error.issues).join('; ')}` };
}
