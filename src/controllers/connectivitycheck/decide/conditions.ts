import type { ConnectivityCheckStatus } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import { ConnectivityReason as Reason, ConnectivityCondition as Type } from '../../../api/connectivitycheck/reasons.ts';
import type { RefusedUrls } from '../../../connectivity/protocol/evaluation.ts';
import { findCondition, setCondition, type Condition, cut, firstOf } from '../../../runtime/controller/conditions.ts';
import type { Known } from './known.ts';
import { shortName } from './fit.ts';

/** Names in a message. */
const NAMED = 3;
const LONGEST_NAME = 80;

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The decided fields of a status that the conditions sum up. */
interface Decided extends Omit<ConnectivityCheckStatus, 'conditions'> {
  readonly findings: NonNullable<ConnectivityCheckStatus['findings']>;
  /** There was an evaluation of this generation of the spec, and it is not old. */
  readonly isEvaluated: boolean;
  /** The network between nodes is measured. */
  readonly isObserved: boolean;
}

/** The reason of a finding in events and in Healthy, such as PodNetworkFailed. */
export function findingReason({ class: one, severity }: Pick<Finding, 'class' | 'severity'>): string {
  return `${one}${severity}`;
}

/**
 * Returns the conditions. All are Unknown with the reason Initializing until the server was asked. Until this process has an
 * answer, only ServerReachable changes; the others are of an earlier evaluation. URLsAllowed is absent until a URL is refused.
 *
 * | condition       | True                      | False                                      | Unknown                   |
 * | --------------- | ------------------------- | ------------------------------------------ | ------------------------- |
 * | ServerReachable | it answers                | unreachable; the reason why                | NotDeployed               |
 * | AgentsReporting | all report                | AgentsMissing, NoAgentReports              | no, or an old evaluation  |
 * | Healthy         | verdict Healthy           | the reason of the first finding            | verdict Unknown           |
 * | URLsAllowed     | no URL is refused         | AddressRefused                             | NotDeployed               |
 * | Ready           | verdict known, not old    | ServerDown, NotDeployed, no agent reports, | not evaluated yet         |
 * |                 |                           | a part of the check is not measured…       |                           |
 *
 * @param generation of the spec that they were decided for
 * @param now RFC 3339
 */
export function conditionsOf(
  known: Known,
  decided: Decided,
  before: readonly Condition[],
  { generation, now }: { readonly generation: number | undefined; readonly now: string },
): Condition[] {
  const server = serverState(known);
  const agents = agentsState(known, decided);
  const allowed = urlsAllowed(known, findCondition(before, Type.URLsAllowed) !== undefined);
  const states: readonly [Type, State][] = [
    [Type.Ready, readyState(known, decided, agents)],
    [Type.Healthy, healthyState(known, decided, agents)],
    [Type.ServerReachable, server],
    [Type.AgentsReporting, agents],
    ...(allowed === undefined ? [] : [[Type.URLsAllowed, allowed] satisfies [Type, State]]),
  ];
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return states.reduce<Condition[]>(
    (list, [type, state]) => {
      const isKept = known.kind === 'Unanswered' && type !== Type.ServerReachable && decided.isEvaluated;
      if (isKept && findCondition(before, type) !== undefined) return list;
      return setCondition(list, { type, ...state, ...observed }, now);
    },
    [...before],
  );
}

const TOO_LARGE =
  'The ConnectivityChecks of the cluster take more memory than the operator has for them, and this is one of the largest; findings and counts are from its last evaluation. Make it smaller, or delete others, then change this one.';

/** Returns the conditions of a check whose body the cache has dropped. @param now RFC 3339 */
export function tooLargeConditions(
  before: readonly Condition[],
  { generation, now }: { readonly generation: number | undefined; readonly now: string },
): Condition[] {
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const state = unknown(Reason.TooLarge, TOO_LARGE);
  const states: readonly [Type, State][] = [
    [Type.Ready, { ...state, status: 'False' }],
    [Type.Healthy, state],
    [Type.ServerReachable, state],
    [Type.AgentsReporting, state],
  ];
  return states.reduce<Condition[]>(
    (list, [type, each]) => setCondition(list, { type, ...each, ...observed }, now),
    [...before],
  );
}

function unknown(reason: string, message: string): State {
  return { status: 'Unknown', reason, message };
}

const INITIALIZING = unknown(Reason.Initializing, 'The connectivity server has not been contacted yet.');
const NOT_EVALUATED = unknown(Reason.NotEvaluatedYet, 'The connectivity server has not evaluated this spec yet.');
const OLD =
  'The connectivity server answers, but does not evaluate this check; findings and counts are from its last evaluation.';
const NOT_DEPLOYED = unknown(
  Reason.NotDeployed,
  'The connectivity check is not deployed: the operator has neither --connectivity nor --connectivity-server-url.',
);

function serverState(known: Known): State {
  if (known.kind === 'NotDeployed') return NOT_DEPLOYED;
  if (known.kind === 'NotAsked') return INITIALIZING;
  if (known.unreachable === undefined) {
    return { status: 'True', reason: Reason.ServerAnswers, message: 'The connectivity server answers.' };
  }
  const { reason, message } = known.unreachable;
  return { status: 'False', reason, message: `Connectivity server unusable: ${message}.` };
}

function agentsState(known: Known, { agents = 0, reportingAgents = 0, findings, isEvaluated }: Decided): State {
  if (known.kind === 'NotDeployed') return NOT_DEPLOYED;
  if (known.kind === 'NotAsked') return INITIALIZING;
  if (known.kind === 'ServerDown') return unknown(known.unreachable.reason, 'The connectivity server does not answer.');
  if (known.kind === 'Unanswered') {
    return unknown(known.unreachable.reason, 'The connectivity server has not answered yet.');
  }
  if (known.kind === 'NotEvaluated' && known.isOld) return unknown(Reason.NotEvaluatedYet, OLD);
  if (!isEvaluated) return NOT_EVALUATED;
  if (reportingAgents === 0) {
    const message = agents === 0 ? 'There is no agent on the checked nodes.' : `None of ${agents} agents reports.`;
    return { status: 'False', reason: Reason.NoAgentReports, message };
  }
  const count = `${reportingAgents} of ${agents} agents report`;
  if (reportingAgents === agents) return { status: 'True', reason: Reason.AllReporting, message: `${count}.` };
  return { status: 'False', reason: Reason.AgentsMissing, message: `${count}${missingNames(findings)}.` };
}

function missingNames(findings: readonly Finding[]): string {
  const names = findings.filter(({ class: one }) => one === 'Agent').flatMap(({ subjects }) => subjects);
  if (names.length === 0) return '';
  const short = names.map((name) => shortName(name, LONGEST_NAME));
  return `; missing: ${firstOf(short, NAMED)}`;
}

function healthyState(known: Known, decided: Decided, agents: State): State {
  const { verdict, findings } = decided;
  if (verdict === 'Healthy') return { status: 'True', reason: Reason.Healthy, message: 'No fault was found.' };
  if (verdict === 'Unknown' || findings[0] === undefined) return notKnown(known, decided, agents);
  const others = findings.length - 1;
  const more = others > 0 ? `; and ${others} more finding${others === 1 ? '' : 's'}` : '';
  return { status: 'False', reason: findingReason(findings[0]), message: `${findings[0].message}${more}` };
}

function readyState(known: Known, decided: Decided, agents: State): State {
  const { verdict } = decided;
  if (known.kind === 'ServerDown') {
    const message = 'The connectivity server does not answer; findings and counts are from its last evaluation.';
    return { status: 'False', reason: known.unreachable.reason, message };
  }
  if (known.kind === 'NotDeployed' || (known.kind === 'NotEvaluated' && known.isOld)) {
    return { ...agents, status: 'False' };
  }
  if (verdict !== 'Unknown') return { status: 'True', reason: Reason.Checked, message: `The verdict is ${verdict}.` };
  if (agents.status === 'False') return agents;
  const why = notKnown(known, decided, agents);
  const isSettled = why.reason === Reason.NoPairsObserved || why.reason === Reason.NotMeasured;
  return isSettled ? { ...why, status: 'False' } : why;
}

/** Returns the state that says why there is no verdict. */
function notKnown(known: Known, decided: Decided, agents: State): State {
  if (known.kind === 'ServerDown' || agents.status !== 'True') return { ...agents, status: 'Unknown' };
  if (!decided.isObserved) return unknown(Reason.NoPairsObserved, unobservedMessage(decided));
  const message = unmeasuredMessage(decided);
  return message === undefined ? NOT_EVALUATED : unknown(Reason.NotMeasured, message);
}

/** Returns undefined if each part of the check has a result, and each finding is measured. */
function unmeasuredMessage({ unmeasured = [], findings }: Decided): string | undefined {
  if (unmeasured.length > 0) {
    return `No agent has measured: ${unmeasured.join(', ')}. Check the DaemonSets and logs of the agents, or take the part out of spec.planes or spec.probes.`;
  }
  const [last] = findings;
  return last?.unmeasuredSince && `Not measured since ${last.unmeasuredSince}: ${last.message}`;
}

function unobservedMessage({ nodes = 0, excludedNodes = 0 }: Decided): string {
  const leftOut = excludedNodes > 0 ? `: ${excludedNodes} of ${nodes} nodes are left out, see status.excluded` : '';
  return `No pair of two nodes is measured${leftOut}. Findings stay until their nodes are measured again.`;
}

/** URLs in a message, and characters of each. With them, the message has less than 500 characters. */
const NAMED_URLS = 2;
const LONGEST_URL = 80;

/** How a message calls a reason. A newer server may have others. */
const WORDS: Readonly<Record<string, string>> = {
  Loopback: 'loopback',
  LinkLocal: 'link-local',
  OwnAddress: 'of the node or pod itself',
  Unspecified: 'unspecified',
  Multicast: 'multicast',
  Broadcast: 'broadcast',
  CloudMetadata: 'metadata of a cloud',
};

/**
 * Returns the condition URLsAllowed:
 *
 * | known | before | condition |
 * |---|---|---|
 * | an evaluation with refused URLs | | False, AddressRefused |
 * | an evaluation without | present | True, AllAllowed |
 * | an evaluation without | absent | absent |
 * | nothing is deployed | present | Unknown, NotDeployed |
 * | else | | as before |
 *
 * @returns undefined if the condition is unchanged, or stays absent
 */
function urlsAllowed(known: Known, isPresent: boolean): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  if (known.kind === 'NotDeployed' && isPresent) {
    return { status: 'Unknown', reason: Reason.NotDeployed, message: 'The connectivity check is not deployed.' };
  }
  if (known.kind !== 'Evaluated') return undefined;
  const { refused = [] } = known.evaluation;
  if (refused.length > 0) return { status: 'False', reason: Reason.AddressRefused, message: refusalMessage(refused) };
  return isPresent ? { status: 'True', reason: Reason.AllAllowed, message: 'Agents refuse no URL.' } : undefined;
}

function refusalMessage(refused: readonly RefusedUrls[]): string {
  const urls = refused.map(({ url, address, reason, agents }) => {
    const where = `${address}, ${WORDS[reason] ?? reason}`;
    return `${cut(url, LONGEST_URL)} (${where}, ${agents} agent${agents === 1 ? '' : 's'})`;
  });
  return `Not requested: ${firstOf(urls, NAMED_URLS)}. Remove the URL, or allow the address in connectivity.allowedTargets of the chart.`;
}
