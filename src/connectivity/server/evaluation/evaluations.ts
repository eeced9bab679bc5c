import type { Report } from '../../../api/agent/report.ts';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { planAssignments } from '../../assign/assignments.ts';
import type { Evaluations } from '../../protocol/evaluation.ts';
import type { Assignment, Measurement, Peer } from '../../protocol/measurement.ts';
import { areCurrent, type ClusterCaches } from './caches.ts';
import type { PodReport } from '../view/clusterView.ts';
import { evaluateCheck, type CheckResult } from './evaluate.ts';
import { ExclusionHistory } from '../view/exclusionHistory.ts';
import type { Measurements } from '../reports/measurements.ts';
import { Recent } from '../view/recent.ts';
import type { Reports } from '../reports/reports.ts';
import { rosterOf, type Roster } from '../view/roster.ts';

/** Agents that have not reported listen here. */
const DEFAULT_PEER_PORT = 8_082;
/** The cluster is read, and evaluated, at most this often. */
const KEPT_MS = 1_000;

export interface ConnectivityOptions {
  readonly caches: ClusterCaches;
  readonly reports: Reports;
  readonly measurements: Measurements;
  readonly clock: Clock;
  /** The node of this process. */
  readonly serverNode?: string | undefined;
}

/** All checks at one moment. */
export interface Evaluated {
  readonly results: ReadonlyMap<string, CheckResult>;
  /** Time that it took, seconds. */
  readonly seconds: number;
}

/** Assigns peers and evaluates the checks, from the caches and the last measurements. */
export class Connectivity {
  readonly #o: ConnectivityOptions;
  readonly #history: ExclusionHistory;
  readonly #startedAt: number;
  readonly #roster: Recent<Roster>;
  readonly #plan: Recent<ReturnType<typeof planAssignments>>;
  readonly #evaluated: Recent<Evaluated>;

  constructor(options: ConnectivityOptions) {
    const { clock, caches } = options;
    this.#o = options;
    this.#startedAt = clock.now();
    this.#history = new ExclusionHistory(clock);
    caches.nodes.subscribe((event) => this.#history.seen(event));
    this.#roster = new Recent(clock, KEPT_MS, () => readRoster(caches));
    this.#plan = new Recent(clock, KEPT_MS, () => this.#planNow());
    this.#evaluated = new Recent(clock, KEPT_MS, () => this.#evaluate());
  }

  /** What the agent that sent a measurement is to do. Its cost does not grow with the number of agents. */
  assignment({ nodename }: Pick<Report, 'nodename'>, { plane }: Measurement): Assignment {
    const { peers, ...rest } = this.#plan.get()(nodename, plane);
    return { ...rest, peers: peers.flatMap((node) => this.#peer(node, plane)) };
  }

  /** Of all checks; none while Nodes, pods or ConnectivityChecks cannot be read. */
  evaluated(): Evaluated {
    return this.#evaluated.get();
  }

  /** The evaluations by name of the check. */
  evaluations(): Evaluations {
    return Object.fromEntries([...this.evaluated().results].map(([name, { evaluation }]) => [name, evaluation]));
  }

  #peer(node: string, plane: Plane): Peer[] {
    const pod = this.#roster.get().agentOf(node, plane);
    if (pod === undefined || pod.addresses.length === 0) return [];
    const port = this.#o.measurements.get(pod.name)?.measurement.port ?? DEFAULT_PEER_PORT;
    return [{ node, addresses: pod.addresses, port }];
  }

  #planNow(): ReturnType<typeof planAssignments> {
    const { nodes, checks, agentOf } = this.#roster.get();
    const canAnswer = (node: string, plane: Plane): boolean => {
      const pod = agentOf(node, plane);
      return pod?.phase === 'Running' && pod.addresses.length > 0;
    };
    return planAssignments({ nodes, checks, canAnswer, now: this.#o.clock.now() });
  }

  #evaluate(): Evaluated {
    const { caches, clock, serverNode } = this.#o;
    const from = clock.monotonic();
    const input = {
      ...{ roster: this.#roster.get(), now: clock.now(), startedAt: this.#startedAt, serverNode },
      reportOf: (pod: string) => this.#reportOf(pod),
      endedAt: (node: string) => this.#history.endedAt(node),
    };
    const checks = areCurrent(caches) ? input.roster.checks : [];
    const results = new Map(checks.map((check) => [check.name, evaluateCheck(input, check)]));
    return { results, seconds: (clock.monotonic() - from) / 1_000 };
  }

  #reportOf(pod: string): PodReport | undefined {
    const age = this.#o.reports.ageOf(pod);
    if (age === undefined) return undefined;
    const kept = this.#o.measurements.get(pod);
    return { ...age, measurement: kept?.measurement, times: kept?.times, authenticated: kept?.authenticated ?? false };
  }
}

function readRoster({ nodes, pods, checks }: ClusterCaches): Roster {
  return rosterOf(nodes.lister.list(), pods.lister.list(), checks.lister.list());
}
