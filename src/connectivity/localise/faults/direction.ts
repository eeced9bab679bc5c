import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { AgentsByPlace, Pair } from '../pairs/pair.ts';
import type { AgentView } from '../view.ts';
import { shows, type Fault } from './faults.ts';

/**
 * Returns the subject of a link, with the direction that fails. The echo alone does not show the direction, but an agent
 * also counts the datagrams that it hears from others.
 *
 * | b heard a | a heard b | subject |
 * |---|---|---|
 * | no | yes | `a -> b` |
 * | yes | no | `b -> a` |
 * | no | no | `a <-> b` |
 * | no | not known | `a -> b`: more is not certain |
 * | yes | not known | `b -> a`: the echo of a's datagrams did not return |
 * | yes | yes | the direction of the pair if only one pair fails, else `a <-> b` |
 * | not known | not known | the same |
 *
 * Not known: the receiver does not report, or the sender did not probe it. Loss is not seen by what was heard, since the
 * intervals of two agents differ; nor is one address family, since agents count what they hear over all.
 */
export function linkSubject(fault: Fault, agents: AgentsByPlace): string {
  const { kind, scope, pairs } = fault;
  const [a = '', b = ''] = scope.names;
  if (kind !== 'Failed' || !pairs.some(({ worst }) => worst.udp.received === 0)) return byPairs(a, b, fault);
  const forth = heard(a, b, scope.plane, agents);
  const back = heard(b, a, scope.plane, agents);
  if (forth === false && back === false) return `${a} <-> ${b}`;
  if (forth === false || (back === true && forth === undefined)) return `${a} -> ${b}`;
  if (back === false || (forth === true && back === undefined)) return `${b} -> ${a}`;
  return byPairs(a, b, fault);
}

/** Whether datagrams of one node arrived at the other. */
function heard(from: string, to: string, plane: Plane, agents: AgentsByPlace): boolean | undefined {
  const receiver = agents.at(to, plane);
  const sender = agents.at(from, plane);
  if (receiver?.state !== 'Reporting') return undefined;
  if (hears(receiver, sender)) return true;
  const sent = sender?.peers.some(({ node, udp }) => node === to && udp.sent > 0) ?? false;
  return sent ? false : undefined;
}

/** Whether an agent heard a sender that was assigned the agent's node. Other names may be forged. */
function hears({ node, heard: names }: AgentView, sender: AgentView | undefined): boolean {
  return sender !== undefined && names.includes(sender.node) && sender.watches?.(node) !== false;
}

/**
 * Whether the subject of a link is certain:
 *
 * - If the other direction is assigned, it was measured: the server assigns it as soon as one direction is affected.
 * - The datagrams were heard during the fault. A datagram that came before the fault, in the same interval, does not show
 *   the direction: the next report shows it.
 * - The receiver has reported since the sender began to probe it. Before, it could not hear the sender.
 */
export function isDirectionKnown({ kind, scope, pairs }: Fault, agents: AgentsByPlace): boolean {
  if (scope.kind !== 'Link') return true;
  const [a = '', b = ''] = scope.names;
  if (isAwaited(a, b, scope.plane, agents) || isAwaited(b, a, scope.plane, agents)) return false;
  if (kind !== 'Failed') return true;
  const silent = pairs.filter(({ worst, quality }) => quality === 'Failed' && worst.udp.received === 0);
  return !silent.some((pair) => heardBefore(pair, agents) || mayHaveHeardSince(pair, agents));
}

/** Whether the next report of an agent will have a first result of the other node. */
function isAwaited(from: string, to: string, plane: Plane, agents: AgentsByPlace): boolean {
  const agent = agents.at(from, plane);
  if (agent?.state !== 'Reporting' || agent.awaited?.includes(to) !== true) return false;
  return !agent.peers.some(({ node }) => node === to);
}

/** Whether the receiver of a pair that fails heard the sender, and may have done so when the pair still worked. */
function heardBefore({ from, to, plane, failedSince, last, isFirst }: Pair, agents: AgentsByPlace): boolean {
  const receiver = agents.at(to, plane);
  if (receiver?.times === undefined || !hears(receiver, agents.at(from, plane))) return false;
  const { reportedAt, before } = receiver.times;
  if (reportedAt < failedSince) return true;
  const isNew = failedSince === last && !isFirst;
  const worked = agents.at(from, plane)?.times?.before;
  return isNew && worked !== undefined && before !== undefined && worked.measuredAt >= before.reportedAt - DELAY_MS;
}

/**
 * Whether the receiver of a pair that is new in the rotation has heard nothing of the sender so far, and its next report may
 * say that it has. A receiver that no longer reports is silent after two intervals; then it is not known what it heard.
 */
function mayHaveHeardSince({ from, to, plane, last, isFirst }: Pair, agents: AgentsByPlace): boolean {
  const receiver = agents.at(to, plane);
  if (!isFirst || receiver?.state !== 'Reporting' || hears(receiver, agents.at(from, plane))) return false;
  return receiver.times !== undefined && receiver.times.reportedAt < last + DELAY_MS;
}

/** From the start of a measurement to the last of its small datagrams, and the time that a report takes. */
const DELAY_MS = 1_000;

function byPairs(a: string, b: string, fault: Fault): string {
  const { kind, pairs } = fault;
  const bad = pairs.filter((pair) => shows(fault, pair));
  const works = pairs.some(({ quality }) => quality === 'Ok');
  const only = bad[0];
  if (kind === 'Lossy' || only === undefined || !works || bad.length > 1) return `${a} <-> ${b}`;
  return `${only.from} -> ${only.to}`;
}
