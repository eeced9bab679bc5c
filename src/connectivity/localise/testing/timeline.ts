import { localise } from '../localise.ts';
import { LEAST_SLOW_MS } from '../pairs/latency.ts';
import type { AgentView, ClusterView, MeasurementTimes } from '../view.ts';
import { seeded } from './random.ts';
import type { SimCluster, SimFault } from './simCluster.ts';
import { simulate } from './simulate.ts';

/** Time between two reports of an agent, s. */
export const INTERVAL = 15;
/** From the start of a measurement to its report, s: with a peer or service that does not answer, and without. */
const TOOK = { failed: 5, ok: 1 };
/** The fault begins after everyone has measured twice, and lasts until all has settled: s. */
export const BEGINS = 3 * INTERVAL;
export const ENDS = 8 * INTERVAL;
const AT_THE_END = 12 * INTERVAL;

/** The findings at one second, as `Class subject`. */
export interface Moment {
  readonly second: number;
  readonly found: readonly string[];
}

interface Sent {
  readonly at: number;
  readonly reportedAt: number;
  readonly agent: AgentView;
}

/**
 * Simulates the findings from second to second while a fault comes and goes. Agents measure one after the other, each at
 * its own moment of the interval; a report has the datagrams heard since the report before.
 *
 * @param standing faults that are there all the time
 * @returns also the findings when all agents have measured the fault, and the findings without it
 */
export function timeline(
  cluster: SimCluster,
  fault: SimFault,
  random: () => number,
  standing: readonly SimFault[] = [],
): { moments: Moment[]; whole: readonly string[]; always: readonly string[] } {
  const works = simulate(cluster, standing, random);
  const fails = simulate(cluster, [...standing, fault], random);
  const phases = works.agents.map(() => random() * INTERVAL);
  // Services are asked while peers are probed.
  const later = seeded(works.agents.length);
  const isFaulty = (at: number) => at >= BEGINS && at < ENDS;
  const of = (index: number, at: number): AgentView => (isFaulty(at) ? fails : works).agents[index]!;
  const sent = works.agents.map((_, index): Sent[] => {
    const all: Sent[] = [];
    for (let at = phases[index]!; at < AT_THE_END; at += INTERVAL) {
      const agent = { ...of(index, at), targets: of(index, at + later() * TOOK.ok).targets };
      const isWaiting = agent.peers.some(({ tcp }) => !tcp.ok) || agent.targets.some(({ ok }) => !ok);
      const took = isWaiting ? TOOK.failed : TOOK.ok;
      if (agent.state === 'Reporting') all.push({ at, reportedAt: at + took, agent });
    }
    return all;
  });
  const moments = Array.from({ length: AT_THE_END - 2 * INTERVAL }, (_, n) => {
    const second = 2 * INTERVAL + n;
    return { second, found: namesOf(viewAt(second, works, sent, phases, of)) };
  });
  return { moments, whole: namesOf(fails), always: namesOf(works) };
}

function namesOf(view: ClusterView): string[] {
  return localise(view)
    .findings.map(({ class: one, subjects }) => `${one} ${subjects.join()}`)
    .sort();
}

function viewAt(
  second: number,
  view: ClusterView,
  sent: readonly (readonly Sent[])[],
  phases: readonly number[],
  of: (index: number, at: number) => AgentView,
): ClusterView {
  const agents = view.agents.map((known, index): AgentView => {
    const [before, last] = lastTwo(sent[index]!, second);
    if (last === undefined || second - last.reportedAt > 2 * INTERVAL) {
      const dueAt = last && (last.reportedAt + INTERVAL) * 1_000;
      return { ...known, state: 'Silent', peers: [], targets: [], heard: [], ...(dueAt !== undefined && { dueAt }) };
    }
    const times = timesOf(before, last);
    return { ...last.agent, times, heard: heardBy(index, before?.reportedAt ?? 0, last.reportedAt, view, phases, of) };
  });
  return { ...view, agents };
}

function lastTwo(all: readonly Sent[], second: number): [Sent | undefined, Sent | undefined] {
  const come = all.filter(({ reportedAt }) => reportedAt <= second);
  return [come.at(-2), come.at(-1)];
}

function timesOf(before: Sent | undefined, last: Sent): MeasurementTimes {
  const times = { measuredAt: last.at * 1_000, reportedAt: last.reportedAt * 1_000 };
  if (before === undefined || last.reportedAt - before.reportedAt > 2 * INTERVAL) return times;
  const { peers, targets } = before.agent;
  const flawed = peers.filter(
    ({ tcp, udp, mtu }) =>
      !tcp.ok ||
      udp.received < udp.sent ||
      (udp.ms ?? 0) >= LEAST_SLOW_MS ||
      (mtu !== undefined && mtu.largest < mtu.interface),
  );
  return {
    ...times,
    before: {
      measuredAt: before.at * 1_000,
      reportedAt: before.reportedAt * 1_000,
      peers: flawed,
      targets: targets.filter(({ ok }) => !ok),
      ...{ unprobed: [], unasked: [] },
    },
  };
}

/** Nodes whose datagrams reached an agent between two reports. */
function heardBy(
  receiver: number,
  from: number,
  to: number,
  { agents }: ClusterView,
  phases: readonly number[],
  of: (index: number, at: number) => AgentView,
): string[] {
  const heard = new Set<string>();
  for (const [sender, { node, plane }] of agents.entries()) {
    if (plane !== agents[receiver]!.plane) continue;
    for (let at = phases[sender]!; at < to; at += INTERVAL) {
      if (at <= from) continue;
      // What the receiver hears of the sender does not depend on whether its own reports arrive.
      if (of(receiver, at).heard.includes(node)) heard.add(node);
    }
  }
  return [...heard];
}
