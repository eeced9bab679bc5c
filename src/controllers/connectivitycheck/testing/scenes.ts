import type { ConnectivityCheck, ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import type { ServerView } from '../observe/observation.ts';

export const T0 = Date.parse('2026-01-01T00:00:00Z');

/** A finding of the pod network of a node, unless stated otherwise. */
export function finding(over: Partial<Finding> = {}): Finding {
  return {
    class: 'PodNetwork',
    subjects: ['node2'],
    severity: 'Failed',
    message: 'The pod network of node2 does not work.',
    evidence: { affectedPairs: 4, observedPairs: 4, pairs: [] },
    ...over,
  };
}

/** An evaluation of three nodes whose six agents report. */
export function evaluation(findings: readonly Finding[] = [], counts: Partial<Evaluation['counts']> = {}): Evaluation {
  const standard = { nodes: 3, excludedNodes: 0, agents: 6, reportingAgents: 6, anonymousAgents: 0 };
  return {
    generation: 1,
    findings,
    omittedFindings: 0,
    counts: { ...standard, observedPairs: 12, affectedPairs: 0, ...counts },
    excluded: [],
  };
}

/** The server answered, with this evaluation or without one. */
export function answered(evaluated?: Evaluation): ServerView {
  return { hasAnswered: true, evaluation: evaluated };
}

/** The server did not answer these asks in a row. */
export function silent(asks: number, ageMs = 0, last?: Evaluation): ServerView {
  const failure = { reason: ConnectivityReason.ServerUnreachable, message: 'the request failed: ECONNREFUSED' };
  return { hasAnswered: last !== undefined, evaluation: last, failure: { ...failure, asks, ageMs } };
}

export function checkWith(status: ConnectivityCheckStatus | undefined, generation = 1): ConnectivityCheck {
  return { metadata: { name: 'cluster', generation }, ...(status === undefined ? {} : { status }) };
}
