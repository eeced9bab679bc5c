import type { Report } from '../../../api/agent/report.ts';
import { PLANES, type Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import { AssignedPeers } from '../../assign/assignedPeers.ts';
import { leftOutUrls, planAssignments, type AssignmentPlan, type ReducedPeers } from '../../assign/assignments.ts';
import { FirstReports } from '../../assign/firstReports.ts';
import { affectedNodes, MOST_LINKS_OF_NODE, SuspectLinks } from '../../assign/suspectLinks.ts';
import { familyOf, type Family } from '../../localise/pairs/quality.ts';
import type { Assignment, Measurement, Peer } from '../../protocol/measurement.ts';
import { isAgentAt, type AgentPod } from '../pods/agentPod.ts';
import { Recent } from '../view/recent.ts';
import type { Roster } from '../view/roster.ts';

/** Peers are planned at most this often. */
const KEPT_MS = 1_000;
/** Peers are planned again after this time if nothing has changed, ms: they rotate in steps of at least two minutes. */
const PLAN_MS = 10_000;

/**
 * Intervals for which an assignment counts, at least. The agent uses it until its next report; peers report what they heard of
 * the agent an interval later, and such a report counts for two intervals.
 */
const WINDOW_INTERVALS = 4;

interface AssignerOptions {
  readonly roster: () => Roster;
  /** Where an agent answers peers; undefined if that is not known. */
  readonly portOf: (pod: AgentPod) => number | undefined;
  /** Whether something is found of a node, so that its links are worth keeping. */
  readonly isJudged: (node: string) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Plan extends AssignmentPlan {
  readonly roster: Roster;
  /** Monotonic, ms. */
  readonly at: number;
  /** For `AssignedPeers`, ms. */
  readonly windowMs: number;
}

/** The first report of an agent to this process. */
interface FirstSeen {
  readonly node: string;
  readonly plane: Plane;
  /** Nodes that it has a result of. */
  readonly named: readonly string[];
  /** The nodes among them to which a link may be kept. */
  readonly affected: readonly string[];
}

/** Assigns peers to agents: the nodes of the rotation, and the nodes at the other ends of links that did not work. */
export class Assigner {
  readonly #o: AssignerOptions;
  readonly #plan: Recent<Plan>;
  readonly #links = new SuspectLinks();
  readonly #assigned = new AssignedPeers();
  readonly #first = new FirstReports();
  /** Checks with fewer peers than they ask for, as they were logged. */
  #logged = '';
  /** The URLs that are left out, as they were logged. */
  #loggedUrls = '';

  constructor(options: AssignerOptions) {
    this.#o = options;
    this.#plan = new Recent(options.clock, KEPT_MS, (last) => this.#planNow(last));
  }

  /** Returns the assignment of the agent of a node. Its cost does not grow with the number of agents. */
  assignment(node: string, plane: Plane): Assignment {
    const plan = this.#plan.get();
    const { peers, ...rest } = plan.of(node, plane);
    const kept = this.#links.of(node, plane);
    // Without a note: these results count once the other agent has named this one.
    const claimed = this.#first.affected(node, plane).slice(0, MOST_LINKS_OF_NODE - kept.length);
    const answering = (nodes: readonly string[]) => nodes.filter((peer) => this.#canAnswer(peer, plane));
    const own = familiesOf(this.#o.roster().agentOf(node, plane));
    const assigned = [...new Set([...peers, ...answering(kept)])];
    this.#note(node, plane, assigned, plan.windowMs);
    const all = new Set([...assigned, ...answering(claimed)]);
    return { ...rest, peers: [...all].flatMap((peer) => this.#peer(peer, plane, own)) };
  }

  /** The URLs that checks assign to an agent. None for a pod that is not the agent of the node it reports of. */
  urlsOf({ podname, nodename }: Pick<Report, 'podname' | 'nodename'>): readonly string[] {
    const { agentOf } = this.#o.roster();
    const plane = PLANES.find((each) => agentOf(nodename, each)?.name === podname);
    return plane === undefined ? [] : this.#plan.get().urlsOf(nodename, plane);
  }

  /**
   * Notes which links a report shows to be affected. What a pod says that is not the agent of its node does not count, nor
   * what an agent says of nodes that it was not assigned.
   */
  seen({ podname, nodename: node }: Pick<Report, 'podname' | 'nodename'>, { plane, peers }: Measurement): void {
    const { isJudged } = this.#o;
    const { agentOf, checks } = this.#o.roster();
    if (agentOf(node, plane)?.name !== podname) return;
    const { isChecked } = this.#plan.get();
    // A failed result towards a pod that was replaced is a fault of the pod, not of the network.
    const current = peers.filter((peer) => isAgentAt(agentOf(peer.node, plane), peer.address));
    const losses = checks.flatMap(({ planes, lossPercent }) => (planes.includes(plane) ? [lossPercent] : []));
    const lossPercent = Math.min(...losses);
    const mayKeep = (peer: string): boolean => isChecked(node, peer, plane) && isJudged(node) && isJudged(peer);
    if (this.watches(node, plane) === undefined) {
      const named = [...new Set(current.map((peer) => peer.node))];
      this.#seenFirst({ node, plane, named, affected: affectedNodes(current, lossPercent).filter(mayKeep) });
    }
    const assigned = this.watches(node, plane);
    this.#links.seen({
      ...{ node, plane, lossPercent, mayKeep },
      peers: current.filter((peer) => assigned?.(peer.node) !== false),
    });
  }

  /** Another process, which ran before this one, assigned the peers of the first report of an agent. */
  #seenFirst({ node, plane, named, affected }: FirstSeen): void {
    const { of, windowMs } = this.#plan.get();
    const both = this.#first.add(node, plane, named, affected, this.#o.clock.monotonic());
    this.#note(node, plane, [...of(node, plane).peers, ...both], windowMs);
    for (const peer of both) this.#note(peer, plane, [node], windowMs);
  }

  /** Returns `awaited` of `AgentView`. */
  awaited(node: string, plane: Plane): readonly string[] {
    return this.#links.awaited(node, plane);
  }

  /** Returns `assignedSince` of `ViewInput`. */
  assignedSince(node: string, plane: Plane): number | undefined {
    return this.#assigned.busySince(node, plane);
  }

  /** Returns `watches` of `AgentView`. */
  watches(node: string, plane: Plane): ((peer: string) => boolean) | undefined {
    return this.#assigned.of(node, plane);
  }

  #note(node: string, plane: Plane, peers: readonly string[], windowMs: number): void {
    this.#assigned.note(node, plane, peers, this.#o.clock.monotonic(), windowMs);
  }

  #planNow(last: Plan | undefined): Plan {
    const { roster: rosterNow, clock, isJudged } = this.#o;
    const roster = rosterNow();
    const at = clock.monotonic();
    if (last?.roster === roster && at - last.at < PLAN_MS) return last;
    const canAnswer = (node: string, plane: Plane): boolean => this.#canAnswer(node, plane);
    const plan = planAssignments({ nodes: roster.nodes, checks: roster.checks, canAnswer, now: clock.now() });
    this.#links.forget((from, to, plane) => plan.isChecked(from, to, plane) && isJudged(from) && isJudged(to));
    if (last?.roster !== roster) this.#assigned.keepOnly(new Set(roster.nodes.map(({ name }) => name)));
    const longestMs = Math.max(0, ...roster.checks.map(({ intervalMs }) => intervalMs));
    const windowMs = WINDOW_INTERVALS * longestMs;
    this.#first.forget(at - windowMs);
    this.#log(plan.reduced);
    this.#logUrls(roster);
    return { ...plan, roster, at, windowMs };
  }

  #canAnswer(node: string, plane: Plane): boolean {
    const pod = this.#o.roster().agentOf(node, plane);
    return pod?.phase === 'Running' && pod.addresses.length > 0 && this.#o.portOf(pod) !== undefined;
  }

  /** Returns a peer, or nothing if it cannot be probed. @param families of the probing agent; undefined, not known: all addresses */
  #peer(node: string, plane: Plane, families: ReadonlySet<Family> | undefined): Peer[] {
    const pod = this.#o.roster().agentOf(node, plane);
    const port = pod && this.#o.portOf(pod);
    if (pod === undefined || port === undefined) return [];
    const addresses = pod.addresses.filter((address) => families?.has(familyOf(address)) !== false);
    return addresses.length === 0 ? [] : [{ node, addresses, port }];
  }

  /** Logs the checks with fewer peers, but not again until the checks change. */
  #log(reduced: readonly ReducedPeers[]): void {
    const checks = reduced.map(({ checks: names, plane }) => `${plane} ${names.join()}`).join();
    if (checks === this.#logged) return;
    this.#logged = checks;
    for (const each of reduced)
      this.#o.logger.warn(each, 'checks of the same nodes ask for more peers than agents probe');
  }

  /** Logs the URLs that are left out, but not again until they change. */
  #logUrls(roster: Roster): void {
    const leftOut = leftOutUrls(roster);
    const urls = leftOut === undefined ? '' : `${leftOut.count} ${leftOut.urls.join()} ${leftOut.checks.join()}`;
    if (urls === this.#loggedUrls) return;
    this.#loggedUrls = urls;
    if (leftOut === undefined) return;
    this.#o.logger.warn(leftOut, 'checks of the same nodes ask for more URLs than agents request: these are left out');
  }
}

/** Returns the families of an agent's addresses. The agent cannot reach other families, which is not a fault. */
function familiesOf(pod: AgentPod | undefined): ReadonlySet<Family> | undefined {
  return pod === undefined || pod.addresses.length === 0 ? undefined : new Set(pod.addresses.map(familyOf));
}
