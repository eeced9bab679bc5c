import * as z from 'zod';
import type { FindingClass, Severity } from '../../../api/connectivitycheck/finding.ts';
import type { Exclusion, Plane } from '../../../api/connectivitycheck/terms.ts';
import { problemTexts } from '../../../api/problems.ts';
import type { Evaluations } from '../../../connectivity/protocol/evaluation.ts';
import type { TargetRefusal } from '../../../connectivity/protocol/measurement.ts';

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

const evaluation = z.object({
  generation: z.int().min(0),
  findings: z.array(finding),
  omittedFindings: count,
  lasting: z.array(finding).exactOptional(),
  counts: z.object({
    nodes: count,
    excludedNodes: count,
    agents: count,
    reportingAgents: count,
    anonymousAgents: count,
    observedPairs: count,
    affectedPairs: count,
  }),
  refused: z
    .array(z.object({ url: z.string(), address: z.string(), reason: word<TargetRefusal>(), agents: count }))
    .exactOptional(),
  excluded: z.array(z.object({ node: z.string(), reason: word<Exclusion>() })),
});

const evaluations = z.record(z.string(), evaluation);

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
