import { CLUSTER, type FindingClass } from '../../../api/connectivitycheck/finding.ts';
import type { Target, TargetResult } from '../../protocol/measurement.ts';
import { networkOf, NO_EVIDENCE, wordOf } from '../evidence.ts';
import { explainsServices } from '../faults/explains.ts';
import { familyOf, type Family } from '../pairs/quality.ts';
import type { Period } from '../pairs/pair.ts';
import type { Part, Rule, Situation } from '../situation.ts';
import type { AgentView } from '../view.ts';

/** Share of nodes without a service from which on the service itself is at fault. */
const NEARLY_ALL = 0.8;
/** If more nodes than this, and a fifth of all, lack the service, some of its replicas fail, and not single nodes. */
const FEW_NODES = 3;
const MANY = 0.2;
/** The share of nodes that one of 25 replicas, if it is down, does not answer. Fewer are single timeouts, and would hide nodes that fail all the time. */
const IN_TURN = 0.04;

/**
 * Finds services of the cluster that fail, by the nodes whose agents do not reach them.
 *
 * | nodes without the service | finding |
 * |---|---|
 * | nodes whose network is at fault | none: the fault of the network explains it |
 * | nodes that have to look its name up, and whose DNS is silent | none: the fault of the DNS explains it |
 * | 80 % of the others, and at least two | `cluster`, Failed |
 * | 4 % of the others in turn: it began to fail at one, and to answer another | `cluster`, Degraded: some replicas fail |
 * | more than three and 20 % of the others | `cluster`, Degraded |
 * | fewer | one for each node, Failed, if another node reached the service in the same period |
 *
 * Nodes ask one after the other, so when the first node gets no answer, it is not known whether the others still get one.
 * There is also no finding while a fault of the network at that node is not confirmed: that fault may explain it.
 */
export const dns: Rule = (situation) => serviceParts('DNS', ['DNSUDP', 'DNSTCP'], 'DNS', situation);
export const apiServer: Rule = (situation) =>
  serviceParts('APIServer', ['APIServer'], 'the Service of the API server', situation);

function serviceParts(
  findingClass: FindingClass,
  targets: readonly Target[],
  name: string,
  situation: Situation,
): readonly Part[] {
  const asked = askedBy(targets, situation);
  const failing = [...asked].filter(([, agents]) => agents.some(({ failed }) => failed.length > 0));
  if (failing.length === 0) return [];
  const part = (subject: string, severity: Part['severity'], message: string): Part => {
    return { class: findingClass, subject, severity, message, evidence: NO_EVIDENCE };
  };
  const example = symptom(failing[0]?.[1] ?? []);
  if (failing.length >= 2 && failing.length >= asked.size * NEARLY_ALL) {
    return [part(CLUSTER, 'Failed', `${name} does not answer ${failing.length} of ${asked.size} nodes (${example})`)];
  }
  if (failing.length >= asked.size * IN_TURN && changesNodes(asked, situation)) {
    const now = `${failing.length} of ${asked.size} (${example})`;
    const message = `${name} fails at different nodes in turn, now at ${now}: some of its replicas may be down`;
    return [part(CLUSTER, 'Degraded', message)];
  }
  if (failing.length > FEW_NODES && failing.length >= asked.size * MANY) {
    return [part(CLUSTER, 'Degraded', `${name} does not answer ${failing.length} of ${asked.size} nodes (${example})`)];
  }
  return failing
    .filter(([node]) => isOfNode(node, asked) && !isUnconfirmedAt(node, situation))
    .map(([node, agents]) => {
      const others = asked.size > failing.length ? `; ${asked.size - failing.length} other nodes reach it` : '';
      return part(node, 'Failed', `${name} does not answer ${node} (${symptom(agents)})${others}`);
    });
}

/** Whether the service began to fail at one node and to answer another. Questions reach another replica each time. */
function changesNodes(asked: ReadonlyMap<string, readonly Asked[]>, situation: Situation): boolean {
  const nodesWith = (isOne: (one: Asked) => boolean): string[] =>
    [...asked].flatMap(([node, agents]) => (agents.some(isOne) ? [node] : []));
  const answered = nodesWith(({ isAnswered }) => isAnswered);
  const failed = nodesWith(({ hasFailed }) => hasFailed).filter((node) => !isUnconfirmedAt(node, situation));
  return failed.some((node) => answered.some((other) => other !== node));
}

function isUnconfirmedAt(node: string, { faults, confirmed, zones }: Situation): boolean {
  return faults.some((fault) => {
    const { kind, names } = fault.scope;
    if (confirmed.has(fault)) return false;
    return kind.startsWith('Zone') ? names.includes(zones.get(node) ?? '') : names.length === 0 || names.includes(node);
  });
}

/** Whether the service worked for another node while it did not for this one. */
function isOfNode(node: string, asked: ReadonlyMap<string, readonly Asked[]>): boolean {
  const own = (asked.get(node) ?? []).filter(({ failed }) => failed.length > 0);
  const others = [...asked].flatMap(([other, agents]) => (other === node ? [] : agents));
  const working = others.filter(({ failed }) => failed.length === 0);
  return working.length === 0 || working.some((other) => own.some((one) => isCertainlyAtOnce(one, other)));
}

/** Whether each result was certain before the last measurement of the other began. */
function isCertainlyAtOnce(one: Asked, other: Asked): boolean {
  return one.since <= other.last && other.since <= one.last;
}

/**
 * `since` and `last`: when all of it answers, or something does not, for certain. A question may be asked at any time of
 * its measurement, and be repeated, so that is from the end of the first measurement to the start of the last one; for a
 * single measurement the end comes before the start.
 */
interface Asked extends Period {
  readonly agent: AgentView;
  readonly failed: readonly TargetResult[];
  /** A part of it failed in the last measurement and answered in the one before, or the other way round. */
  readonly hasFailed: boolean;
  readonly isAnswered: boolean;
}

/** Returns the agents that asked, by node. Leaves out nodes whose network is at fault. */
function askedBy(targets: readonly Target[], { agents, faults, zones }: Situation): Map<string, Asked[]> {
  const nodes = new Map<string, Asked[]>();
  for (const agent of agents.all()) {
    const own = agent.targets.filter(({ target }) => targets.includes(target));
    if (agent.state !== 'Reporting' || own.length === 0 || isOfDns(agent, own)) continue;
    const failed = agent.recent === true ? [] : own.filter(({ ok }) => !ok);
    const known = nodes.get(agent.node);
    const one = { agent, failed, ...changesOf(agent, own), ...periodOf(agent, targets, failed.length === 0) };
    if (known === undefined) nodes.set(agent.node, [one]);
    else known.push(one);
  }
  const works = (node: string) => nodes.get(node)?.every(({ failed }) => failed.length === 0) ?? false;
  const asked = new Set([...nodes.values()].flat().flatMap(({ agent }) => familiesOf(agent, targets)));
  // A Service has backends of its own family.
  const onThem = faults.filter(({ family }) => family === undefined || asked.has(family));
  const explained = explainsServices(onThem, zones, works);
  return new Map([...nodes].filter(([node]) => !explained(node)));
}

/** Whether a service has a name, and the DNS that has to look it up does not answer: the DNS is at fault. */
function isOfDns({ targets }: AgentView, own: readonly TargetResult[]): boolean {
  const isUnknown = own.some(({ address, error }) => isName(address) && (error === 'NotFound' || error === 'Timeout'));
  return isUnknown && targets.some(({ target, ok }) => target === 'DNSUDP' && !ok);
}

/** Whether an address with a port has a name, and not a number of IPv4 or, in brackets, of IPv6. */
function isName(address: string): boolean {
  return !/^([\d.]+|\[.*\])(:\d+)?$/.test(address);
}

function familiesOf({ targets: all }: AgentView, targets: readonly Target[]): Family[] {
  return all.filter(({ target }) => targets.includes(target)).map(({ address }) => familyOf(address));
}

function changesOf(
  { recent, times }: AgentView,
  own: readonly TargetResult[],
): Pick<Asked, 'hasFailed' | 'isAnswered'> {
  const { before } = times ?? {};
  if (before === undefined || recent === true) return { hasFailed: false, isAnswered: false };
  const failedBefore = new Set(before.targets.map(({ target }) => target));
  return {
    hasFailed: own.some(({ target, ok }) => !ok && !failedBefore.has(target) && !before.unasked.includes(target)),
    isAnswered: own.some(({ target, ok }) => ok && failedBefore.has(target)),
  };
}

function periodOf({ times }: AgentView, targets: readonly Target[], isOk: boolean): Period {
  if (times === undefined) return { since: -Infinity, last: Infinity };
  const { measuredAt: last, reportedAt, before } = times;
  const isFirst = before?.unasked.some((target) => targets.includes(target)) === true;
  if (before === undefined || isFirst) return { since: reportedAt, last };
  const wasOk = before.targets.every(({ target }) => !targets.includes(target));
  return { since: wasOk === isOk ? before.reportedAt : reportedAt, last };
}

/** Returns a text such as `pod network: DNSUDP 10.96.0.10:53 timeout`. */
function symptom(asked: readonly Asked[]): string {
  return asked
    .filter(({ failed }) => failed.length > 0)
    .map(({ agent, failed }) => {
      const words = failed.map(({ target, address, error }) => `${target} ${address} ${wordOf(error ?? 'Other')}`);
      return `${networkOf(agent.plane)}: ${words.slice(0, 2).join(', ')}`;
    })
    .join('; ');
}

/**
 * Finds kubelets that do not answer the agent of their own node. Agents report them only if they answered before.
 *
 * | host agent | kubelet | finding |
 * |---|---|---|
 * | Reporting | answers, or was not asked | none |
 * | Reporting | did not answer once | none; one that exists stays |
 * | Reporting | did not answer twice in a row | Node |
 * | otherwise | | none |
 */
export const kubelets: Rule = ({ agents }) =>
  agents.all().flatMap((agent) => {
    const kubelet = agent.targets.find(({ target, ok }) => target === 'Kubelet' && !ok);
    if (agent.state !== 'Reporting' || agent.recent === true || kubelet === undefined) return [];
    const { times } = agent;
    const isUnconfirmed =
      times !== undefined && times.before?.targets.some(({ target }) => target === 'Kubelet') !== true;
    const message = `kubelet of ${agent.node} does not answer on ${kubelet.address} (${wordOf(kubelet.error ?? 'Other')})`;
    return [{ class: 'Node', subject: agent.node, severity: 'Failed', message, evidence: NO_EVIDENCE, isUnconfirmed }];
  });
