import type { ConnectivityCheckStatus, StatusFinding } from '../../../../api/connectivitycheck/connectivityCheck.ts';
import {
  FINDING_CLASSES,
  SERVER_SUBJECTS,
  type Finding,
  type FindingClass,
} from '../../../../api/connectivitycheck/finding.ts';
import { PLANES, type Plane } from '../../../../api/connectivitycheck/terms.ts';
import { MOST_FINDINGS, type Evaluation } from '../../../../connectivity/protocol/evaluation.ts';
import { metaTime } from '../../../../runtime/controller/conditions.ts';
import { faultId, isIntermittent, isSameFault, type Fault, type FindingHistory } from '../../model/findingHistory.ts';
import type { Observation, ServerFailure } from '../../observe/observation.ts';
import type { Known } from '../known.ts';
import { namesIn } from '../fit.ts';
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
      const { list, omitted: beyond } = findingsThatLast(known.evaluation, was, history);
      return { list: list.map(present), omitted: beyond };
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
 * | lacks it      | has it, and no pair shows that it is over      | lasts: see isUnobserved()                 |
 * | lacks it      | has it, intermittent, and no node is left out  | lasts                                     |
 * | lacks it      | has it otherwise                               | none                                      |
 *
 * Loss close to the threshold is above it in some reports and below it in others, on one plane or on both. Without this,
 * ten nodes with such loss would cause hundreds of events an hour, and push all other outages out of the list.
 *
 * @returns at most MOST_FINDINGS, and the number of the others
 */
function findingsThatLast(
  evaluation: Evaluation,
  was: readonly StatusFinding[],
  history: FindingHistory,
): { list: readonly Finding[]; omitted: number } {
  const { findings, omittedFindings, lasting = [], excluded } = evaluation;
  const leftOut = new Set(excluded.map(({ node }) => node));
  const held = was.flatMap((finding): Finding[] => {
    if (isIn(finding, findings)) return [];
    const measured = lasting.find((other) => isSameFault(finding, other));
    if (measured !== undefined) return [measured];
    if (isUnobserved(finding, evaluation)) return [finding];
    const isChecked = !namesOf(finding).some((name) => leftOut.has(name));
    return isChecked && isIntermittent(finding, history) ? [finding] : [];
  });
  if (held.length === 0) return { list: findings, omitted: omittedFindings };
  const found = findings.filter((finding) => isIn(finding, was) || !held.some((other) => isPartOf(finding, other)));
  const list = [...found, ...held].sort(inOrder);
  return { list: list.slice(0, MOST_FINDINGS), omitted: omittedFindings + Math.max(0, list.length - MOST_FINDINGS) };
}

/**
 * Whether nothing is known any longer of what a finding is about. The absence of measurements does not show that a fault
 * has ended.
 *
 * | finding                              | pairs, with nodes that are left out                  | unobserved |
 * | ------------------------------------ | ---------------------------------------------------- | ---------- |
 * | any                                  | none, although the check has several nodes           | yes        |
 * | shown by pairs, of a node or a link  | none of one of its nodes, on a network that it names | yes        |
 * | else                                 |                                                      | no         |
 */
function isUnobserved(
  finding: Finding,
  { counts, lastingPairs = counts.observedPairs, unobserved = [] }: Evaluation,
): boolean {
  if (lastingPairs === 0 && counts.nodes > 1) return true;
  if (finding.evidence.observedPairs === 0) return false;
  const [names, planes] = [namesOf(finding), planesOf(finding)];
  return unobserved.some(({ node, plane }) => names.includes(node) && planes.includes(plane));
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

function isIn(finding: Finding, list: readonly Finding[]): boolean {
  return list.some((other) => isSameFault(finding, other));
}

/** The order of the server: Failed ones first, then by class and subjects. */
function inOrder(a: Finding, b: Finding): number {
  const severity = Number(a.severity === 'Degraded') - Number(b.severity === 'Degraded');
  const order = FINDING_CLASSES.indexOf(a.class) - FINDING_CLASSES.indexOf(b.class);
  return severity || order || (a.subjects.join() < b.subjects.join() ? -1 : 1);
}
