import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import { metaTime, type PlannedEvent } from '../../../runtime/controller/conditions.ts';
import type { Observation } from '../observe/observation.ts';
import { conditionsOf } from './conditions.ts';
import { eventsOf } from './events.ts';
import { findingsOf } from './findings/findings.ts';
import { fit } from './fit.ts';
import { evaluatedGeneration, isEvaluated, knownOf, nextChangeMs, type Known } from './known.ts';
import { outagesOf, type Findings } from './findings/outages.ts';
import { FIGURES_EVERY_MS, isNews } from './quiet.ts';
import { namesIn, sharedDomain, shortSubjects } from './subjects.ts';
import { verdictOf } from './verdict.ts';

/** Names in the summary, which is a column of `kubectl get`: characters. */
const SUMMARY_NAME = 63;

/** The status and the Events that follow from an observation. */
export interface Decision {
  /** The present state, for metrics. */
  readonly status: ConnectivityCheckStatus;
  /** The status to write: the object's own, if only numbers have changed and the last write was less than 60 s ago. */
  readonly write: ConnectivityCheckStatus;
  /** The way from the object's status to `write`. */
  readonly events: readonly PlannedEvent[];
  /** When to decide again even if nothing happens: silence of the server is a finding then. */
  readonly requeueAfterMs?: number;
}

/** Decides status and events of a check. Pure: the same observation gives the same decision. */
export function decide(o: Observation): Decision {
  const before = o.check.status ?? {};
  const known = knownOf(o);
  const status = fit(statusOf(known, o, before));
  const isDue = o.writtenAgoMs === undefined || o.writtenAgoMs >= FIGURES_EVERY_MS;
  const write = isDue || isNews(before, status) ? status : before;
  const requeueAfterMs = nextChangeMs(o, known);
  return {
    ...{ status, write, events: eventsOf(before, write) },
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs: Math.max(1, requeueAfterMs) }),
  };
}

function statusOf(known: Known, o: Observation, before: ConnectivityCheckStatus): ConnectivityCheckStatus {
  if (known.kind === 'NotAsked' && isOfServer(before)) return before;
  const now = metaTime(o.now);
  const findings = findingsOf(known, before, o);
  const figures = figuresOf(known, before);
  const evaluated = isEvaluated(known, o);
  const kept = known.kind === 'Unanswered' && evaluated ? before.verdict : undefined;
  const verdict = kept ?? verdictOf({ ...figures, isEvaluated: evaluated, findings: findings.list });
  const observedGeneration = evaluatedGeneration(known, before);
  const generation = known.kind === 'Evaluated' ? known.evaluation.generation : o.check.metadata?.generation;
  const decided = { ...figures, verdict, findings: [...findings.list], isEvaluated: evaluated };
  return {
    verdict,
    ...summaryOf(findings),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: conditionsOf(known, decided, before.conditions ?? [], { generation, now }),
    ...figures,
    findings: [...findings.list],
    ...(findings.omitted === 0 ? {} : { omittedFindings: findings.omitted }),
    outages: outagesOf(findings, before, o.now),
  };
}

/** Whether an operator with a server wrote the status. Such a status is unchanged until this process has contacted the server. */
function isOfServer({ conditions = [] }: ConnectivityCheckStatus): boolean {
  return conditions.length > 0 && !conditions.some(({ reason }) => reason === ConnectivityReason.NotDeployed);
}

type Figures = Pick<
  ConnectivityCheckStatus,
  | 'nodes'
  | 'excludedNodes'
  | 'agents'
  | 'reportingAgents'
  | 'anonymousAgents'
  | 'observedPairs'
  | 'affectedPairs'
  | 'excluded'
>;

/** Returns the counts and names of the evaluation, or of the status. Empty if there are none yet, or nothing is deployed. */
function figuresOf(known: Known, before: ConnectivityCheckStatus): Figures {
  if (known.kind === 'NotDeployed') return {};
  if (known.kind === 'Evaluated') return { ...known.evaluation.counts, excluded: [...known.evaluation.excluded] };
  const { nodes, excludedNodes, agents, reportingAgents, anonymousAgents, observedPairs, affectedPairs } = before;
  if (nodes === undefined) return {};
  const counts = { nodes, excludedNodes, agents, reportingAgents, anonymousAgents, observedPairs, affectedPairs };
  return { ...counts, excluded: before.excluded ?? [] };
}

/** Returns the first finding and the number of the others, for a column of `kubectl get`. */
function summaryOf({ list, omitted }: Findings): { summary?: string } {
  const [first] = list;
  if (first === undefined) return {};
  const others = list.length - 1 + omitted;
  const domain = sharedDomain(list.flatMap(({ subjects }) => subjects).flatMap(namesIn));
  const summary = `${first.class} ${shortSubjects(first.subjects, 1, SUMMARY_NAME, domain).join(' ')}`;
  return { summary: others > 0 ? `${summary} (+${others})` : summary };
}
