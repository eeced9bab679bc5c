import type { Report } from '../../../api/agent/report.ts';
import type { Exclusion, Plane } from '../../../api/connectivitycheck/terms.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import { Turns } from '../../../runtime/process/turns.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { Steps } from '../../localise/steps.ts';
import type { ClusterView } from '../../localise/view.ts';
import type { Evaluation, Evaluations } from '../../protocol/evaluation.ts';
import type { Assignment, Measurement } from '../../protocol/measurement.ts';
import type { AgentPod } from '../pods/agentPod.ts';
import type { Measurements } from '../reports/measurements.ts';
import type { Reports } from '../reports/reports.ts';
import { Ages, NODE_JOINED, POD_CREATED, POD_STARTED } from '../view/ages.ts';
import { countSilent, type LastReport, type PodAge } from '../view/agentState.ts';
import { exclusionOf, shownExclusion, type ClusterNode } from '../view/clusterNode.ts';
import { clusterView, type PodReport, type ViewInput } from '../view/clusterView.ts';
import { Recent, RecentInTurns } from '../view/recent.ts';
import { rosterOf, type Roster } from '../view/roster.ts';
import { Assigner } from './assigner.ts';
import { areCurrent, areFilled, isChange, isCurrent, type ClusterCaches } from './caches.ts';
import { evaluateCheck } from './evaluate.ts';

/** The cluster is read, and evaluated, at most this often. */
const KEPT_MS = 1_000;

export interface ConnectivityOptions {
  readonly caches: ClusterCaches;
  readonly reports: Reports;
  readonly measurements: Measurements;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The interval of agents that have not reported, as the user states it, ms. */
  readonly reportIntervalMs: number;
  /** The node of this process. */
  readonly serverNode?: string | undefined;
}

const ALL_PROBES = { dns: true, apiServer: true, mtu: true };

/** All checks at one moment. */
export interface Evaluated {
  readonly results: ReadonlyMap<string, Evaluation>;
  /** Time that it took, with what was answered meanwhile, seconds. */
  readonly seconds: number;
}

/** Assigns peers and evaluates the checks, from the caches and the last measurements. */
export class Connectivity {
  readonly #o: ConnectivityOptions;
  readonly #history: ExclusionHistory;
  readonly #joined: Ages<ClusterNode>;
  readonly #created: Ages<AgentPod>;
  readonly #started: Ages<AgentPod>;
  /** Monotonic, ms. */
  readonly #startedAt: number;
  readonly #roster: Recent<Roster>;
  readonly #assigner: Assigner;
  readonly #evaluated: RecentInTurns<Evaluated>;
  /** Names of the checks whose last evaluation had findings, or findings that last. */
  #withFindings: ReadonlySet<string> = new Set();
  /** Nodes, pods or checks have changed since the roster was made. */
  #hasChanged = true;

  constructor(options: ConnectivityOptions) {
    const { clock, caches, logger } = options;
    this.#o = options;
    this.#startedAt = clock.monotonic();
    this.#history = new ExclusionHistory(clock);
    caches.nodes.subscribe((event) => this.#history.seen(event));
    this.#joined = new Ages(clock, NODE_JOINED, caches.nodes);
    this.#created = new Ages(clock, POD_CREATED, caches.pods);
    this.#started = new Ages(clock, POD_STARTED, caches.pods);
    const seen = (event: Parameters<typeof isChange>[0]): void => void (this.#hasChanged ||= isChange(event));
    caches.nodes.subscribe(seen);
    caches.pods.subscribe(seen);
    caches.checks.subscribe(seen);
    this.#roster = new Recent(clock, KEPT_MS, (last) => this.#readRoster(last));
    this.#assigner = new Assigner({
      ...{ clock, logger, roster: () => this.#roster.get() },
      portOf: ({ name, peerPort }) => options.measurements.get(name)?.measurement.port ?? peerPort,
      // A finding of a node that is left out stays while others measure the fault: see wholeLocalisation().
      isJudged: (node) => this.#exclusion(node) !== 'Gone',
    });
    this.#evaluated = new RecentInTurns(clock, KEPT_MS, () => this.#evaluate());
  }

  /**
   * Returns the assignment of the agent that sent a measurement. Undefined until Nodes, pods and ConnectivityChecks were
   * read: the agent keeps its last assignment. Its cost does not grow with the number of agents.
   */
  assignment({ nodename }: Pick<Report, 'nodename'>, { plane }: Measurement): Assignment | undefined {
    if (!areFilled(this.#o.caches)) return undefined;
    return this.#assigner.assignment(nodename, plane);
  }

  /** The URLs that checks assign to the agent of a report. None until Nodes, pods and ConnectivityChecks were read. */
  urlsOf(report: Pick<Report, 'podname' | 'nodename'>): readonly string[] {
    return areFilled(this.#o.caches) ? this.#assigner.urlsOf(report) : [];
  }

  /** Remembers which links are affected. Call it with each report that has a measurement, before its assignment. */
  seen(report: Pick<Report, 'podname' | 'nodename'>, measurement: Measurement): void {
    if (areFilled(this.#o.caches)) this.#assigner.seen(report, measurement);
  }

  /**
   * Evaluates all checks. A check for which it is too early has no result: see evaluateCheck(). While Nodes, pods or
   * ConnectivityChecks cannot be read, no check has a result. The operator keeps findings and counts of such a check.
   */
  evaluated(): Promise<Evaluated> {
    return this.#evaluated.get();
  }

  /** The evaluations by name of the check. */
  async evaluations(): Promise<Evaluations> {
    const { results } = await this.evaluated();
    return Object.fromEntries(results);
  }

  /**
   * Returns the present view of each check that has a result, with the results of all probes, so that metrics show the whole
   * network. Do not keep the views: each refers to 100,000 results of 10,000 agents.
   */
  *views({ results }: Pick<Evaluated, 'results'>): Steps<readonly ClusterView[]> {
    if (!areCurrent(this.#o.caches)) return [];
    const input = this.#input();
    const views: ClusterView[] = [];
    for (const check of input.roster.checks) {
      if (results.has(check.name)) views.push(yield* clusterView(input, { ...check, probes: ALL_PROBES }));
    }
    return views;
  }

  /** Counts the agents that should report and do not, by plane; undefined while their pods cannot be read. */
  silentAgents(): Record<Plane, number> | undefined {
    const { caches, clock, reportIntervalMs } = this.#o;
    if (!isCurrent(caches.pods)) return undefined;
    // A roster without nodes and checks must not be kept.
    const { agents } = areFilled(caches) ? this.#roster.get() : this.#newRoster();
    return countSilent(agents, {
      reportOf: (pod) => this.#lastReport(pod),
      isLeftOut: (node) => this.#exclusion(node) !== undefined,
      ageOf: (pod) => this.#ageOf(pod),
      ...{ intervalMs: reportIntervalMs, upMs: clock.monotonic() - this.#startedAt },
    });
  }

  /** Returns why a node is left out. If Nodes cannot be read, as with the rights of the original server, no node is. */
  #exclusion(name: string): Exclusion | 'Gone' | undefined {
    const { caches, reportIntervalMs } = this.#o;
    if (!isCurrent(caches.nodes)) return undefined;
    const node = caches.nodes.lister.get(name);
    const moment = {
      joinedMs: (each: ClusterNode) => this.#joined.of(each),
      settlingMs: 2 * reportIntervalMs,
      endedMs: (each: string) => this.#history.endedMs(each),
    };
    return node === undefined ? 'Gone' : exclusionOf(node, moment);
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
    const known = checks.lister.list().filter((check) => !isWithoutBody(check));
    return rosterOf(nodes.lister.list(), pods.lister.list(), known, reports);
  }

  async #evaluate(): Promise<Evaluated> {
    const { caches, clock } = this.#o;
    const results = new Map<string, Evaluation>();
    if (!areCurrent(caches)) return { results, seconds: 0 };
    const from = clock.monotonic();
    const input = this.#input();
    const turns = new Turns();
    for (const check of input.roster.checks) {
      const evaluation = await turns.run(evaluateCheck(input, check, this.#withFindings.has(check.name)));
      if (evaluation !== undefined) results.set(check.name, evaluation);
    }
    const has = ({ findings, lasting = [] }: Evaluation): boolean => findings.length + lasting.length > 0;
    this.#withFindings = new Set([...results].flatMap(([name, evaluation]) => (has(evaluation) ? [name] : [])));
    return { results, seconds: (clock.monotonic() - from) / 1_000 };
  }

  #input(): ViewInput {
    const { clock, serverNode } = this.#o;
    return {
      ...{ roster: this.#roster.get(), upMs: clock.monotonic() - this.#startedAt, serverNode },
      reportOf: (pod) => this.#reportOf(pod),
      joinedMs: (node) => this.#joined.of(node),
      endedMs: (node) => this.#history.endedMs(node),
      ageOf: (pod) => this.#ageOf(pod),
      awaited: (node, plane) => this.#assigner.awaited(node, plane),
      assignedSince: (node, plane) => this.#assigner.assignedSince(node, plane),
      watches: (node, plane) => this.#assigner.watches(node, plane),
    };
  }

  #ageOf(pod: AgentPod): PodAge {
    return { ageMs: this.#created.of(pod), runsMs: this.#started.of(pod) };
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

/** Remembers when the exclusion of each node ended, since a Node does not say when it was uncordoned. */
export class ExclusionHistory {
  readonly #clock: Clock;
  /** Monotonic, ms. */
  readonly #endedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers an exclusion that has ended. Call it with each event of the Nodes. */
  seen(event: InformerEvent<ClusterNode>): void {
    const { object } = event;
    if (event.type === 'delete') this.#endedAt.delete(object.name);
    if (event.type !== 'update' || event.old === undefined) return;
    if (shownExclusion(event.old) !== undefined && shownExclusion(object) === undefined) {
      this.#endedAt.set(object.name, this.#clock.monotonic());
    }
  }

  /** Returns the time since the exclusion ended, ms; undefined if none has ended since this process started. */
  endedMs(node: string): number | undefined {
    const at = this.#endedAt.get(node);
    return at === undefined ? undefined : this.#clock.monotonic() - at;
  }
}
