import { SERVER_SUBJECTS } from '../../../api/connectivitycheck/finding.ts';
import { networkOf, NO_EVIDENCE } from '../evidence.ts';
import { explainsSilence } from '../faults/explains.ts';
import { mayReport } from '../faults/mayReport.ts';
import type { Pair } from '../pairs/pair.ts';
import type { Part, Rule, Situation } from '../situation.ts';
import type { AgentView } from '../view.ts';

/** Share of silent agents from which on the server is at fault. */
const NEARLY_ALL = 0.8;

/**
 * Finds agents that do not report.
 *
 * | a fault lies between agent and server | measured towards the agent | finding |
 * |---|---|---|
 * | yes | | none: the fault explains it |
 * | no | all fail | none: the network is at fault, and has its own finding |
 * | no | some answer, refusals included | Agent |
 * | no | nothing | Agent |
 *
 * There is also no finding while the network may explain the silence: see mayReport().
 *
 * If at least three agents and 80 % of all are silent without an explanation, there is one finding of the class Server, with
 * the subject `reports`.
 */
export const agents: Rule = (situation) => {
  const explained = explainsSilence(situation.view, situation.agents, situation.faults, situation.zones);
  const all = situation.agents.all();
  const unexplained = all.filter((agent) => agent.state === 'Silent' && !explained(agent));
  if (unexplained.length === 0) return [];
  const towards = pairsTowards(situation);
  const reached = mayReport(situation);
  const silent = unexplained.filter((agent) => {
    const pairs = towards.get(agent) ?? [];
    const works = pairs.length === 0 || pairs.some(({ quality }) => quality !== 'Failed');
    return works && reached(agent);
  });
  const known = all.filter(({ state }) => state === 'Silent' || state === 'Reporting');
  if (silent.length >= 3 && silent.length >= known.length * NEARLY_ALL)
    return [serverPart(silent.length, known.length)];
  return silent.map((agent) => agentPart(agent, towards.get(agent) ?? []));
};

function pairsTowards({ pairs, agents: places }: Situation): Map<AgentView, Pair[]> {
  const towards = new Map<AgentView, Pair[]>();
  for (const pair of pairs) {
    const agent = places.at(pair.to, pair.plane);
    if (agent === undefined) continue;
    const known = towards.get(agent);
    if (known === undefined) towards.set(agent, [pair]);
    else known.push(pair);
  }
  return towards;
}

function serverPart(silent: number, all: number): Part {
  const message = `${silent} of ${all} agents do not report, and no fault of the network explains it`;
  return { class: 'Server', subject: SERVER_SUBJECTS.reports, severity: 'Failed', message, evidence: NO_EVIDENCE };
}

function agentPart(agent: AgentView, pairs: readonly Pair[]): Part {
  const refusing = pairs.filter(({ refused }) => refused).length;
  const works = pairs.filter(({ quality }) => quality !== 'Failed').length;
  const what = refusing > 0 ? 'does not report and does not listen' : 'does not report';
  const network = `${works} of ${pairs.length} pairs towards it show that the ${networkOf(agent.plane)} of ${agent.node} works`;
  const message = `agent ${agent.pod} on ${agent.node} ${what}; ${pairs.length > 0 ? network : 'no other agent measured towards it'}`;
  const evidence = { affectedPairs: refusing, observedPairs: pairs.length, pairs: [] };
  return { class: 'Agent', subject: agent.pod, severity: 'Failed', message, evidence };
}

/**
 * Finds agents that should run and do not: each is a finding of the class Agent. Nothing is known of their nodes, so that the
 * severity is Degraded. Nodes that are left out have no finding.
 */
export const brokenAgents: Rule = ({ agents }) => {
  const broken = agents.all().filter(({ state }) => state === 'Broken');
  return broken.map(({ pod, node, problem = 'for an unknown reason' }) => {
    const message = `agent ${pod} on ${node} does not run: ${problem}`;
    return { class: 'Agent', subject: pod, severity: 'Degraded', message, evidence: NO_EVIDENCE };
  });
};

/**
 * Finds agents that report, and have no result of another node, although others measure their node. What these agents would
 * say of their node is missing; the rest of the check does not depend on it. A node that no other node measures is `unmeasured`.
 */
export const blindAgents: Rule = (situation) => {
  const blind = situation.agents.all().filter(({ isBlind }) => isBlind === true);
  if (blind.length === 0) return [];
  const towards = pairsTowards(situation);
  return blind.flatMap((agent) => {
    const { node, plane, pod } = agent;
    const observedPairs = towards.get(agent)?.length ?? 0;
    if (observedPairs === 0) return [];
    const message = `agent ${pod} on ${node} reports, but has no result of another node; others measure the ${networkOf(plane)} of ${node}`;
    const evidence = { affectedPairs: 0, observedPairs, pairs: [] };
    return [{ class: 'Agent', subject: pod, severity: 'Degraded', message, evidence }];
  });
};
