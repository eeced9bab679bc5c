import type { Report } from '../../../api/agent/report.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { planAssignments } from '../../assign/assignments.ts';
import type { ClusterView } from '../../localise/view.ts';
import type { Evaluation, Evaluations } from '../../protocol/evaluation.ts';
import type { Assignment, Measurement, Peer } from '../../protocol/measurement.ts';
import { exclusionOf } from '../view/exclusion.ts';
import { countSilent } from '../view/silentAgents.ts';
import { areCurrent, areFilled, isCurrent, type ClusterCaches } from './caches.ts';
import type { AgentPod } from '../pods/agentPod.ts';
import type { LastReport } from '../view/agentState.ts';
import { clusterView, type PodReport, type ViewInput } from '../view/clusterView.ts';
import { evaluateCheck } from './evaluate.ts';
import { isChange } from './isChange.ts';
import { ExclusionHistory } from '../view/exclusionHistory.ts';
import type { Measurements } from '../reports/measurements.ts';
import { Recent } from '../view/recent.ts';
import type { Reports } from '../reports/reports.ts';
import { rosterOf, type Roster } from '../view/roster.ts';

/** Agents that have not reported listen here. */
const DEFAULT_PEER_PORT = 8_082;
/** The cluster is read, and evaluated, at most this often. */
const KEPT_MS = 1_000;
/** Peers are assigned anew this often if nothing has changed: they rotate in steps of at least two minutes. */
const PLAN_MS = 10_000;

export interface ConnectivityOptions {
  readonly caches: ClusterCaches;
  readonly reports: Reports;
  readonly measurements: Measurements;
  readonly clock: Clock;
  /** The interval of agents that have not reported, as the user states it, ms. */
  readonly reportIntervalMs: number;
  /** The node of this process. */
  readonly serverNode?: string | undefined;
}

/** All checks at one moment. */
export interface Evaluated {
  readonly results: ReadonlyMap<string, Evaluation>;
  /** Time that it took, seconds. */
  readonly seconds: number;
}

interface Plan {
  readonly roster: Roster;
  /** Monotonic, ms. */
  readonly at: number;
  readonly assignmentOf: ReturnType<typeof planAssignments>;
}

/** Assigns peers and evaluates the checks, from the caches and the last measurements. */
export class Connectivity {
  readonly #o: ConnectivityOptions;
  readonly #history: ExclusionHistory;
  /** Monotonic, ms. */
  readonly #startedAt: number;
  readonly #roster: Recent<Roster>;
  readonly #plan: Recent<Plan>;
  readonly #evaluated: Recent<Evaluated>;
  /** Nodes, pods or checks have changed since the roster was made. */
  #hasChanged = true;

  constructor(options: ConnectivityOptions) {
    const { clock, caches } = options;
    this.#o = options;
    this.#startedAt = clock.monotonic();
    this.#history = new ExclusionHistory(clock);
    caches.nodes.subscribe((event) => this.#history.seen(event));
    const seen = (event: Parameters<typeof isChange>[0]): void => void (this.#hasChanged ||= isChange(event));
    caches.nodes.subscribe(seen);
    caches.pods.subscribe(seen);
    caches.checks.subscribe(seen);
    this.#roster = new Recent(clock, KEPT_MS, (last) => this.#readRoster(last));
    this.#plan = new Recent(clock, KEPT_MS, (last) => this.#planNow(last));
    this.#evaluated = new Recent(clock, KEPT_MS, () => this.#evaluate());
  }

  /**
   * What the agent that sent a measurement is to do. Undefined until Nodes, pods and ConnectivityChecks were read: the
   * agent keeps its last assignment. Its cost does not grow with the number of agents.
   */
  assignment({ nodename }: Pick<Report, 'nodename'>, { plane }: Measurement): Assignment | undefined {
    if (!areFilled(this.#o.caches)) return undefined;
    const { peers, ...rest } = this.#plan.get().assignmentOf(nodename, plane);
    return { ...rest, peers: peers.flatMap((node) => this.#peer(node, plane)) };
  }

  /**
   * Of all checks, but those that are early: see evaluateCheck(). None while Nodes, pods or ConnectivityChecks cannot be
   * read. The operator keeps findings and figures of a check without a result.
   */
  evaluated(): Evaluated {
    return this.#evaluated.get();
  }

  /** The evaluations by name of the check. */
  evaluations(): Evaluations {
    return Object.fromEntries(this.evaluated().results);
  }

  /**
   * The cluster as each check with a result sees it now. They are not kept: each refers to 100,000 results of 10,000
   * agents.
   */
  views(): readonly ClusterView[] {
    const { results } = this.evaluated();
    if (!areCurrent(this.#o.caches)) return [];
    const input = this.#input();
    return input.roster.checks.flatMap((check) => (results.has(check.name) ? [clusterView(input, check)] : []));
  }

  /** Agents that should report and do not, by plane; undefined while their pods cannot be read. */
  silentAgents(): Record<Plane, number> | undefined {
    const { caches, clock, reportIntervalMs } = this.#o;
    if (!isCurrent(caches.pods)) return undefined;
    // A roster without nodes and checks must not be kept.
    const { agents } = areFilled(caches) ? this.#roster.get() : this.#newRoster();
    return countSilent(agents, {
      reportOf: (pod) => this.#lastReport(pod),
      isLeftOut: (node) => this.#isLeftOut(node),
      ...{ intervalMs: reportIntervalMs, now: clock.now(), upMs: clock.monotonic() - this.#startedAt },
    });
  }

  /** Without Nodes, as with the rights of the original server, no node is left out. */
  #isLeftOut(name: string): boolean {
    const { caches, clock, reportIntervalMs } = this.#o;
    if (!isCurrent(caches.nodes)) return false;
    const node = caches.nodes.lister.get(name);
    const moment = {
      now: clock.now(),
      settlingMs: 2 * reportIntervalMs,
      endedMs: (each: string) => this.#history.endedMs(each),
    };
    return node === undefined || exclusionOf(node, moment) !== undefined;
  }

  #peer(node: string, plane: Plane): Peer[] {
    const pod = this.#roster.get().agentOf(node, plane);
    if (pod === undefined || pod.addresses.length === 0) return [];
    const port = this.#o.measurements.get(pod.name)?.measurement.port ?? DEFAULT_PEER_PORT;
    return [{ node, addresses: pod.addresses, port }];
  }

  /** Heartbeats of nodes change nothing that counts here. */
  #readRoster(last: Roster | undefined): Roster {
    if (last !== undefined && !last.isContested && !this.#hasChanged) return last;
    this.#hasChanged = false;
    return this.#newRoster();
  }

  #newRoster(): Roster {
    const { nodes, pods, checks } = this.#o.caches;
    const reports = ({ name }: AgentPod): boolean => this.#o.reports.current(name)?.anonymous === false;
    return rosterOf(nodes.lister.list(), pods.lister.list(), checks.lister.list(), reports);
  }

  #planNow(last: Plan | undefined): Plan {
    const roster = this.#roster.get();
    const at = this.#o.clock.monotonic();
    if (last?.roster === roster && at - last.at < PLAN_MS) return last;
    const { nodes, checks, agentOf } = roster;
    const canAnswer = (node: string, plane: Plane): boolean => {
      const pod = agentOf(node, plane);
      return pod?.phase === 'Running' && pod.addresses.length > 0;
    };
    const assignmentOf = planAssignments({ nodes, checks, canAnswer, now: this.#o.clock.now() });
    return { roster, at, assignmentOf };
  }

  #evaluate(): Evaluated {
    const { caches, clock } = this.#o;
    const results = new Map<string, Evaluation>();
    if (!areCurrent(caches)) return { results, seconds: 0 };
    const from = clock.monotonic();
    const input = this.#input();
    for (const check of input.roster.checks) {
      const evaluation = evaluateCheck(input, check);
      if (evaluation !== undefined) results.set(check.name, evaluation);
    }
    return { results, seconds: (clock.monotonic() - from) / 1_000 };
  }

  #input(): ViewInput {
    const { clock, serverNode } = this.#o;
    return {
      ...{ roster: this.#roster.get(), now: clock.now(), upMs: clock.monotonic() - this.#startedAt, serverNode },
      reportOf: (pod) => this.#reportOf(pod),
      endedMs: (node) => this.#history.endedMs(node),
    };
  }

  #reportOf(pod: string): PodReport | undefined {
    const { reports, measurements } = this.#o;
    const [state, last] = [reports.get(pod), this.#lastReport(pod)];
    if (state === undefined || last === undefined) return undefined;
    const { report, anonymous } = state;
    const { measurement, times } = measurements.get(pod) ?? {};
    return { ...last, node: report.nodename, measurement, times, authenticated: anonymous !== true };
  }

  #lastReport(pod: string): LastReport | undefined {
    const { reports } = this.#o;
    const age = reports.ageOf(pod);
    return age && { ...age, isRestored: !reports.hasReported(pod) };
  }
}
