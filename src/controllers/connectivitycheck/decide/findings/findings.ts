import type { ConnectivityCheckStatus, StatusFinding } from '../../../../api/connectivitycheck/connectivityCheck.ts';
import {
  FINDING_CLASSES,
  SERVER_SUBJECTS,
  type Finding,
  type FindingClass,
} from '../../../../api/connectivitycheck/finding.ts';
import { PLANES, type Plane } from '../../../../api/connectivitycheck/terms.ts';
import { MOST_FINDINGS, MOST_UNOBSERVED, type Evaluation } from '../../../../connectivity/protocol/evaluation.ts';
import type { Target } from '../../../../connectivity/protocol/measurement.ts';
import { metaTime } from '../../../../runtime/controller/conditions.ts';
import { faultId, isIntermittent, isSameFault, type Fault, type FindingHistory } from '../../model/findingHistory.ts';
import { namesIn } from '../../model/subjects.ts';
import type { Observation, ServerFailure } from '../../observe/observation.ts';
import type { Known } from '../known.ts';
import { continuedOutage, pastTime, type Findings } from './outages.ts';

/** Returns the finding that the server does not answer, the only finding that the operator makes and not the server. */
function serverFinding({ message }: ServerFailure): Finding {
  return {
    class: 'Server',
    subjects: [SERVER_SUBJECTS.answers],
    severity: 'Failed',
    message: `Connectivity server unusable: ${message}. The other findings are from its last evaluation.`,
    evidence: { affectedPairs: 0, observedPairs: 0, pairs: [] },
  };
}

/**
 * Returns the present findings by the table of `Known`. `since` is the start of the outage. A server that has never answered
 * for the check counts as being deployed, and causes no finding.
 *
 * @param now milliseconds since 1970
 */
export function findingsOf(
  known: Known,
  before: ConnectivityCheckStatus,
  { now, history }: Pick<Observation, 'now' | 'history'>,
): Findings {
  const was = before.findings ?? [];
  const omitted = before.omittedFindings ?? 0;
  const ofServer = was.filter((finding) => !isServerFinding(finding));
  const present = (finding: Finding): StatusFinding => {
    const identified = { ...finding, id: (finding as Fault).id ?? faultId(finding) };
    const since = sinceOf(identified, before, now);
    return { ...identified, since: since === undefined ? metaTime(now) : pastTime(since, now) };
  };
  switch (known.kind) {
    case 'Evaluated': {
      const { found, unmeasured, omitted: beyond } = findingsThatLast(known.evaluation, was, history);
      const last = unmeasured.map((finding) => ({ unmeasuredSince: metaTime(now), ...finding }));
      return { list: [...found.map(present), ...last], omitted: beyond };
    }
    case 'ServerDown': {
      const hasAnswered = before.observedGeneration !== undefined;
      const down = hasAnswered ? [present(serverFinding(known.unreachable))] : [];
      return { list: [...down, ...ofServer], omitted };
    }
    case 'NotEvaluated':
      return { list: ofServer, omitted };
    case 'NotAsked':
    case 'Unanswered':
      return { list: was, omitted };
    case 'NotDeployed':
      return { list: [], omitted: 0 };
  }
}

/** Whether the finding says that the server does not answer. */
export function isServerFinding({ class: one, subjects }: Finding): boolean {
  return one === 'Server' && subjects.join() === SERVER_SUBJECTS.answers;
}

/** Returns when a finding began. Its outage knows this also if the list had no room for it, or if it was absent for a moment. */
function sinceOf(finding: Finding, { findings = [], outages = [] }: ConnectivityCheckStatus, now: number) {
  const listed = findings.find((other) => isSameFault(finding, other));
  return listed?.since ?? continuedOutage(finding, outages, now)?.start;
}

/**
 * Returns the findings of an evaluation, and the findings of the status that last although the evaluation lacks them.
 *
 * | evaluation    | status                                         | finding                                   |
 * | ------------- | ---------------------------------------------- | ----------------------------------------- |
 * | has it        | has it                                         | present                                   |
 * | has it        | lacks it; it is a Degraded part of a finding that lasts | none: that finding explains it   |
 * | has it        | lacks it otherwise                             | present                                   |
 * | in `lasting`  | has it                                         | lasts: a node that is left out has it     |
 * | lacks it      | has it, and no result shows that it is over    | lasts, as not measured: see isUnmeasured() |
 * | lacks it      | has it, intermittent, and no node is left out  | lasts                                     |
 * | lacks it      | has it otherwise                               | none                                      |
 *
 * Loss close to the threshold is above it in some reports and below it in others, on one plane or on both. Without this,
 * ten nodes with such loss would cause hundreds of events an hour, and push all other outages out of the list.
 *
 * @returns at most MOST_FINDINGS, and the number of the others; the findings that nothing measures come last
 */
function findingsThatLast(
  evaluation: Evaluation,
  was: readonly StatusFinding[],
  history: FindingHistory,
): { found: readonly Finding[]; unmeasured: readonly StatusFinding[]; omitted: number } {
  const { findings, omittedFindings, lasting = [], excluded } = evaluation;
  const leftOut = new Set(excluded.map(({ node }) => node));
  const isIn = (list: readonly Finding[], finding: Finding) => list.some((other) => isSameFault(finding, other));
  const lacking = was.filter((finding) => !isIn(findings, finding));
  const unmeasured = lacking.filter((finding) => !isIn(lasting, finding) && isUnmeasured(finding, evaluation));
  const held = lacking.flatMap((finding): Finding[] => {
    if (unmeasured.includes(finding)) return [];
    const measured = lasting.find((other) => isSameFault(finding, other));
    if (measured !== undefined) return [measured];
    const isChecked = !namesOf(finding).some((name) => leftOut.has(name));
    const { unmeasuredSince: _, ...present } = finding;
    return isChecked && isIntermittent(finding, history) ? [present] : [];
  });
  const lasts = [...held, ...unmeasured];
  const whole = findings.filter((finding) => isIn(was, finding) || !lasts.some((other) => isPartOf(finding, other)));
  const found = held.length === 0 ? whole : [...whole, ...held].sort(inOrder);
  return {
    found: found.slice(0, MOST_FINDINGS),
    unmeasured: unmeasured.slice(0, Math.max(0, MOST_FINDINGS - found.length)),
    omitted: omittedFindings + Math.max(0, found.length + unmeasured.length - MOST_FINDINGS),
  };
}

/** The services that findings without pairs are about. */
const SERVICES: Partial<Record<FindingClass, readonly Target[]>> = {
  DNS: ['DNSUDP', 'DNSTCP'],
  APIServer: ['APIServer'],
  Node: ['Kubelet'],
};

/**
 * Whether nothing is known any longer of what a finding is about. The absence of measurements does not show that a fault
 * has ended.
 *
 * | finding                              | results, with nodes that are left out                 | unmeasured |
 * | ------------------------------------ | ----------------------------------------------------- | ---------- |
 * | of a service, at a node              | none of the service at the node, which has an agent   | yes        |
 * | of a service, of the cluster         | none of the service                                   | yes        |
 * | shown by pairs                       | no pair, although the check has several nodes         | yes        |
 * | shown by pairs, of a node or a link  | no pair of one of its nodes, on a network that it names | yes      |
 * | shown by pairs, of the cluster, a zone | no pair of a network that it names                  | yes        |
 * | else                                 |                                                       | no         |
 *
 * A finding whose place may be among the places that an evaluation has no room for is unmeasured.
 */
function isUnmeasured(finding: Finding, evaluation: Evaluation): boolean {
  const { counts, lastingPairs = counts.observedPairs, unobserved = [], unasked = [], unmeasured = [] } = evaluation;
  const names = namesOf(finding);
  const { class: one, evidence } = finding;
  const services = one === 'Node' && evidence.observedPairs > 0 ? undefined : SERVICES[one];
  if (services !== undefined) {
    const isAt = ({ node, target }: { node: string; target: Target }) =>
      names.includes(node) && services.includes(target);
    return unasked.some(isAt) || unasked.length >= MOST_UNOBSERVED || services.some((of) => isPart(unmeasured, { of }));
  }
  if (one === 'Agent' || one === 'Server') return false;
  if (lastingPairs === 0 && counts.nodes > 1) return true;
  const planes = planesOf(finding);
  if (planes.some((plane) => isPart(unmeasured, { plane }))) return true;
  if (unobserved.length >= MOST_UNOBSERVED) return true;
  return unobserved.some(({ node, plane }) => names.includes(node) && planes.includes(plane));
}

function isPart(unmeasured: NonNullable<Evaluation['unmeasured']>, part: { plane?: Plane; of?: Target }): boolean {
  return unmeasured.some(({ plane, of }) => plane === part.plane && of === part.of);
}

/** Returns the networks that a finding is about: of its examples, or both if the status has no room for examples. */
function planesOf({ class: one, evidence: { pairs } }: Finding): readonly Plane[] {
  if (one === 'PodNetwork') return ['Pod'];
  if (one === 'HostNetwork') return ['Host'];
  return pairs.length > 0 ? pairs.map(({ plane }) => plane) : PLANES;
}

const PARTS: Partial<Record<FindingClass, readonly FindingClass[]>> = {
  Node: ['PodNetwork', 'HostNetwork', 'Link'],
  PodNetwork: ['Link'],
  HostNetwork: ['Link'],
};

/** Whether a finding is Degraded, and about a part of the network that `whole` is about. */
function isPartOf(finding: Finding, whole: Finding): boolean {
  if (finding.severity !== 'Degraded' || PARTS[whole.class]?.includes(finding.class) !== true) return false;
  const names = namesOf(finding);
  return whole.subjects.some((subject) => names.includes(subject));
}

function namesOf({ subjects }: Finding): string[] {
  return subjects.flatMap(namesIn);
}

/** The order of the server: Failed ones first, then by class and subjects. */
function inOrder(a: Finding, b: Finding): number {
  const severity = Number(a.severity === 'Degraded') - Number(b.severity === 'Degraded');
  const order = FINDING_CLASSES.indexOf(a.class) - FINDING_CLASSES.indexOf(b.class);
  return severity || order || (a.subjects.join() < b.subjects.join() ? -1 : 1);
}
