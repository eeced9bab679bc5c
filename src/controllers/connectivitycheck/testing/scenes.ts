import type { ConnectivityCheck, ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import { decide, type Decision } from '../decide/decide.ts';
import { findingHistoryOf, type FindingHistory } from '../model/findingHistory.ts';
import type { ServerView } from '../observe/observation.ts';

/** The default interval of a check. */
const INTERVAL_MS = 15_000;

export const T0 = Date.parse('2026-01-01T00:00:00Z');

/** Returns a finding of the pod network of a node, unless stated otherwise. */
export function finding(over: Partial<Finding> = {}): Finding {
  return {
    class: 'PodNetwork',
    subjects: ['node2'],
    severity: 'Failed',
    message: 'pod network of node2: 2 of 2 pairs fail',
    evidence: { affectedPairs: 4, observedPairs: 4, pairs: [] },
    ...over,
  };
}

/** Returns an evaluation of three nodes whose six agents report. */
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

/** The server answered, with this evaluation or, for so long, without one. */
export function answered(evaluated?: Evaluation, lackingMs = 0): ServerView {
  return { ...NOT_ASKED, hasAnswered: true, evaluation: evaluated, ...(evaluated ? {} : { lackingMs }) };
}

/** A server that this process has not asked. */
export const NOT_ASKED: ServerView = { isDeployed: true, hasAnswered: false };

/** The server did not answer these asks in a row, for so long. `last` is the evaluation before. */
export function silent(asks: number, silentMs = 60_000, last?: Evaluation): ServerView {
  const failure = { reason: ConnectivityReason.ServerUnreachable, message: 'request failed: ECONNREFUSED' };
  const silence = { ...failure, asks, silentMs, ageMs: Math.max(0, silentMs - 1_000) };
  return { ...NOT_ASKED, hasAnswered: last !== undefined, evaluation: last, failure: silence };
}

export function checkWith(status: ConnectivityCheckStatus | undefined, generation = 1): ConnectivityCheck {
  return { metadata: { name: 'cluster', generation }, ...(status === undefined ? {} : { status }) };
}

/** Decides one view of the server after the other, each `stepMs` later, from the status that was written before. */
export function story(views: readonly ServerView[], stepMs = 5_000): Decision[] {
  let status: ConnectivityCheckStatus | undefined;
  let history: FindingHistory = new Map();
  return views.map((server, step) => {
    const atMs = step * stepMs;
    const { findings } = server.evaluation ?? {};
    if (findings !== undefined) history = findingHistoryOf(history, findings, { now: atMs, intervalMs: INTERVAL_MS });
    const decision = decide({ check: checkWith(status), server, history, now: T0 + atMs });
    status = decision.write;
    return decision;
  });
}
