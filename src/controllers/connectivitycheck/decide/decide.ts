import type {
  ConnectivityCheck,
  ConnectivityCheckStatus,
  StatusFinding,
} from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Severity } from '../../../api/connectivitycheck/finding.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { ConnectivityVerdict } from '../../../api/connectivitycheck/terms.ts';
import type { Evaluation } from '../../../connectivity/protocol/evaluation.ts';
import { metaTime, type PlannedEvent } from '../../../runtime/controller/conditions.ts';
import { isSameFault } from '../model/findingHistory.ts';
import { namesIn } from '../model/subjects.ts';
import type { Observation } from '../observe/observation.ts';
import { conditionsOf, findingReason, tooLargeConditions } from './conditions.ts';
import { findingsOf } from './findings/findings.ts';
import { outagesOf, type Findings } from './findings/outages.ts';
import { fit, sharedDomain, shortSubjects } from './fit.ts';
import { evaluatedGeneration, isEvaluated, knownOf, nextChangeMs, type Known } from './known.ts';

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

/**
 * Decides about a check whose body the cache has dropped. Its last findings and counts are not known here, and remain in its status.
 *
 * @param now RFC 3339
 */
export function tooLarge(check: ConnectivityCheck, now: string): Pick<Decision, 'status' | 'events'> {
  const before = check.status ?? {};
  const conditions = tooLargeConditions(before.conditions ?? [], { generation: check.metadata?.generation, now });
  const status = { ...before, verdict: 'Unknown', conditions } as const;
  return { status, events: eventsOf(before, status) };
}

function statusOf(known: Known, o: Observation, before: ConnectivityCheckStatus): ConnectivityCheckStatus {
  if (known.kind === 'NotAsked' && isOfServer(before)) return before;
  const now = metaTime(o.now);
  const findings = findingsOf(known, before, o);
  const figures = figuresOf(known, before);
  const evaluated = isEvaluated(known, o);
  const kept = known.kind === 'Unanswered' && evaluated ? before.verdict : undefined;
  const isObserved = observesPairs(figures);
  const shown = findings.list.filter(({ unmeasuredSince }) => unmeasuredSince === undefined);
  const isMeasured = isObserved && figures.unmeasured === undefined && shown.length === findings.list.length;
  const verdict = kept ?? verdictOf({ ...figures, isEvaluated: evaluated, isMeasured, findings: shown });
  const observedGeneration = evaluatedGeneration(known, before);
  const generation = known.kind === 'Evaluated' ? known.evaluation.generation : o.check.metadata?.generation;
  const decided = { ...figures, verdict, findings: [...findings.list], isEvaluated: evaluated, isObserved };
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
  | 'unobservedNetworks'
  | 'unmeasured'
  | 'excluded'
>;

/** Returns the counts and names of the evaluation, or of the status. Empty if there are none yet, or nothing is deployed. */
function figuresOf(known: Known, before: ConnectivityCheckStatus): Figures {
  if (known.kind === 'NotDeployed') return {};
  if (known.kind === 'Evaluated') {
    const { counts: seen, excluded, unmeasured = [] } = known.evaluation;
    return { ...seen, ...(unmeasured.length > 0 && { unmeasured: unmeasured.map(partName) }), excluded: [...excluded] };
  }
  const { nodes, excludedNodes, agents, reportingAgents, anonymousAgents, observedPairs, affectedPairs } = before;
  if (nodes === undefined) return {};
  const counts = { nodes, excludedNodes, agents, reportingAgents, anonymousAgents, observedPairs, affectedPairs };
  const { unobservedNetworks, unmeasured, excluded = [] } = before;
  return {
    ...counts,
    ...(unobservedNetworks !== undefined && { unobservedNetworks }),
    ...(unmeasured !== undefined && { unmeasured }),
    excluded,
  };
}

/** How messages call the parts of a check. A newer server may have others. */
const PARTS: Readonly<Record<string, string>> = {
  DNSUDP: 'DNS over UDP',
  DNSTCP: 'DNS over TCP',
  APIServer: 'Service of the API server',
  MTU: 'packet size',
};

function partName({ plane, of = '', node, count = 1 }: NonNullable<Evaluation['unmeasured']>[number]): string {
  const network = plane === undefined ? '' : `${plane.toLowerCase()} network`;
  if (node !== undefined) {
    const others = count === 2 ? ' and 1 other node' : ` and ${count - 1} other nodes`;
    return `${network} of ${node}${count > 1 ? others : ''}`;
  }
  const part = PARTS[of] ?? of;
  return network === '' || part === '' ? `${network}${part}` : `${part} of the ${network}`;
}

/** Whether the network between nodes is measured. A check of one node has no pairs; the services that it reaches count. */
function observesPairs({ nodes = 0, observedPairs = 0 }: Figures): boolean {
  return observedPairs > 0 || nodes <= 1;
}

/** Returns the first finding and the number of the others, for a column of `kubectl get`. */
function summaryOf({ list, omitted }: Findings): { summary?: string } {
  const [first] = list;
  if (first === undefined) return {};
  const others = list.length - 1 + omitted;
  const domain = sharedDomain(list.flatMap(({ subjects }) => subjects).flatMap(namesIn));
  const subject = shortSubjects(first.subjects, 1, SUMMARY_NAME, domain).join(' ');
  const summary = `${first.class} ${subject}${first.unmeasuredSince === undefined ? '' : ', not measured'}`;
  return { summary: others > 0 ? `${summary} (+${others})` : summary };
}

/** The shortest time between two writes for changed figures alone, ms. */
export const FIGURES_EVERY_MS = 60_000;

/**
 * Whether a status differs in more than figures, which change all the time. Figures are counts, messages, evidence and the
 * names of nodes that are left out.
 */
function isNews(before: ConnectivityCheckStatus, after: ConnectivityCheckStatus): boolean {
  return (
    before.verdict !== after.verdict ||
    before.observedGeneration !== after.observedGeneration ||
    isOther(before.conditions, after.conditions, (a, b) => {
      return (
        a.type === b.type &&
        a.status === b.status &&
        a.reason === b.reason &&
        a.observedGeneration === b.observedGeneration
      );
    }) ||
    isOther(before.findings, after.findings, (a, b) => {
      return (
        isSameFault(a, b) && a.severity === b.severity && a.since === b.since && a.unmeasuredSince === b.unmeasuredSince
      );
    }) ||
    isOther(before.outages, after.outages, (a, b) => isSameFault(a, b) && a.start === b.start && a.end === b.end)
  );
}

function isOther<T>(before: readonly T[] = [], after: readonly T[] = [], isSame: (a: T, b: T) => boolean): boolean {
  return before.length !== after.length || before.some((one, place) => !isSame(one, after[place] as T));
}

/** The input of a verdict. */
interface VerdictInput {
  /** There was an evaluation of this generation of the spec, and it is not old. */
  readonly isEvaluated: boolean;
  /** Each part of the check has a result, and no finding is unmeasured. */
  readonly isMeasured: boolean;
  /** Without the unmeasured ones. */
  readonly findings: readonly { readonly severity: Severity }[];
  /** Number of agents of the checked nodes; undefined if not known. */
  readonly agents?: number | undefined;
  /** Number of these agents that report; undefined if not known. */
  readonly reportingAgents?: number | undefined;
}

/**
 * Returns the verdict of a check. The first row that applies counts:
 *
 * | evaluated                           | reporting agents | findings     | verdict  |
 * | ----------------------------------- | ---------------- | ------------ | -------- |
 * | never, no longer, or no server      |                  |              | Unknown  |
 * |                                     | none             |              | Unknown  |
 * |                                     |                  | a Failed one | Failed   |
 * |                                     |                  | others       | Degraded |
 * | not each part, or an unmeasured finding |              | none         | Unknown  |
 * |                                     | not all          | none         | Unknown  |
 * |                                     | all              | none         | Healthy  |
 *
 * Findings that only stay until they are measured again do not count as findings: see isUnmeasured(). A part of the check without
 * any result, such as a network without agents, or all pairs when all nodes but one are left out, may have any fault.
 * The server leaves nodes that are down, come or go out of the agents that must report. It makes a finding of an agent
 * that is silent for long, so the last Unknown is short. A server that no longer answers is a Failed finding.
 */
function verdictOf({ isEvaluated, isMeasured, findings, agents, reportingAgents }: VerdictInput): ConnectivityVerdict {
  if (!isEvaluated || agents === undefined || reportingAgents === undefined || reportingAgents === 0) return 'Unknown';
  if (findings.some(({ severity }) => severity === 'Failed')) return 'Failed';
  if (findings.length > 0) return 'Degraded';
  return isMeasured && reportingAgents >= agents ? 'Healthy' : 'Unknown';
}

/** The most events of one reconcile, before an event that counts the rest. */
const MOST_EVENTS = 10;

/**
 * Returns the events that report the changes from one status to the next. Their notes have no measured values, so that
 * Kubernetes counts a repeated event in the existing one.
 *
 * | finding                           | event                                                                |
 * | --------------------------------- | -------------------------------------------------------------------- |
 * | new, or its severity changed      | Warning, class and severity: `PodNetworkFailed`                      |
 * | cleared, and the list is complete | Normal `FindingCleared`, with the reason if its node is not checked  |
 * | beyond ten events                 | one `MoreFindings` with their number                                 |
 */
function eventsOf(before: ConnectivityCheckStatus, after: ConnectivityCheckStatus): PlannedEvent[] {
  const [was, is] = [before.findings ?? [], after.findings ?? []];
  const appeared = is.filter(
    (finding) => !was.some((other) => isSameFault(finding, other) && finding.severity === other.severity),
  );
  const isComplete = (after.omittedFindings ?? 0) === 0;
  const cleared = isComplete ? was.filter((finding) => !is.some((other) => isSameFault(finding, other))) : [];
  const events = [...appeared.map(appearance), ...cleared.map((finding) => clearing(finding, after))];
  const more = events.length - MOST_EVENTS;
  if (more <= 0) return events;
  const type = appeared.length > 0 ? 'Warning' : 'Normal';
  const note = `${more} more findings appeared or cleared; see the status`;
  return [...events.slice(0, MOST_EVENTS), { type, reason: ConnectivityReason.MoreFindings, note }];
}

function appearance(finding: StatusFinding): PlannedEvent {
  const { class: one, subjects, severity } = finding;
  const note = `${one} ${subjects.join(', ')} is ${severity}; status.findings has what was measured`;
  return { type: 'Warning', reason: findingReason(finding), note };
}

function clearing(finding: StatusFinding, after: ConnectivityCheckStatus): PlannedEvent {
  const note = clearedNote(finding, after);
  return { type: 'Normal', reason: ConnectivityReason.FindingCleared, note };
}

/** Returns the note of a cleared finding. It does not say that the problem ended if the subject is no longer checked. */
function clearedNote(
  { class: one, subjects }: StatusFinding,
  { conditions = [], excluded = [] }: ConnectivityCheckStatus,
): string {
  const name = `${one} ${subjects.join(', ')}`;
  if (conditions.some(({ reason }) => reason === ConnectivityReason.NotDeployed)) return `${name} is no longer checked`;
  const names = new Set(subjects.flatMap(namesIn));
  const left = excluded.filter(({ node }) => names.has(node)).map(({ node, reason }) => `${node}: ${reason}`);
  return left.length === 0 ? `Finding cleared: ${name}` : `${name} is no longer checked; left out: ${left.join(', ')}`;
}
