import type { Report } from '../../../api/agent/report.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { MeasurementBefore, MeasurementTimes } from '../../localise/view.ts';
import type { Measurement, PeerResult, Target } from '../../protocol/measurement.ts';
import { Compactor, type CompactMeasurement } from './compact.ts';

/** The last measurement of an agent. */
export interface KeptMeasurement {
  /** The node that the report names. */
  readonly node: string;
  readonly measurement: CompactMeasurement;
  readonly times: MeasurementTimes;
}

/**
 * The last measurement of each agent, by the name of its pod. It is in memory only: after a restart the agents send a
 * new one within an interval.
 */
export class Measurements {
  readonly #clock: Clock;
  readonly #compactor = new Compactor();
  readonly #byPod = new Map<string, KeptMeasurement>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the measurement of a report. A report without one forgets the one before: the agent was replaced. */
  accept(
    { podname, nodename, report_interval }: Pick<Report, 'podname' | 'nodename' | 'report_interval'>,
    measurement: Measurement | undefined,
  ): void {
    if (measurement === undefined) {
      this.#byPod.delete(podname);
      return;
    }
    const reportedAt = this.#clock.monotonic();
    const last = this.#lastOf({ podname, nodename }, reportedAt - 2 * report_interval * 1_000);
    const compact = this.#compactor.compact(measurement);
    const times = {
      measuredAt: reportedAt - (measurement.tookMs ?? 0),
      reportedAt,
      ...(last !== undefined && { before: before(last, compact) }),
    };
    this.#byPod.set(podname, { node: nodename, measurement: compact, times });
  }

  /** Returns the measurement before, unless it is of another node or too old to say anything about the time since. */
  #lastOf({ podname, nodename }: Pick<Report, 'podname' | 'nodename'>, notBefore: number): KeptMeasurement | undefined {
    const last = this.#byPod.get(podname);
    return last?.node === nodename && last.times.reportedAt >= notBefore ? last : undefined;
  }

  get(pod: string): KeptMeasurement | undefined {
    return this.#byPod.get(pod);
  }

  /** Forgets the measurements of all other pods. */
  keepOnly(isKept: (pod: string) => boolean): void {
    for (const pod of [...this.#byPod.keys()]) if (!isKept(pod)) this.#byPod.delete(pod);
  }
}

/**
 * Returns the part of a measurement that is kept when the next one comes: the failed results, which are few in most
 * networks, and the nodes and services that only the next one probes, which are few except after a step of the rotation.
 */
function before({ measurement, times }: KeptMeasurement, next: CompactMeasurement): MeasurementBefore {
  const { measuredAt, reportedAt } = times;
  const peers = measurement.peers.filter((peer) => !isPerfect(peer));
  const targets = measurement.targets.filter(({ ok }) => !ok);
  return { measuredAt, reportedAt, peers, targets, ...unprobedBy(measurement, next) };
}

/** Most measurements probe what the one before did. They share these lists: an empty list for each would take memory. */
const NO_NODES: readonly string[] = [];
const NO_TARGETS: readonly Target[] = [];

type Unprobed = Pick<MeasurementBefore, 'unprobed' | 'unasked'>;

function unprobedBy(one: CompactMeasurement, next: CompactMeasurement): Unprobed {
  const probed = new Set(one.peers.map(({ node }) => node));
  const asked = new Set(one.targets.map(({ target }) => target));
  const nodes = next.peers.flatMap(({ node }) => (probed.has(node) ? [] : [node]));
  const targets = next.targets.flatMap(({ target }) => (asked.has(target) ? [] : [target]));
  return {
    unprobed: nodes.length === 0 ? NO_NODES : [...new Set(nodes)],
    unasked: targets.length === 0 ? NO_TARGETS : targets,
  };
}

function isPerfect({ tcp, udp, mtu }: PeerResult): boolean {
  return tcp.ok && udp.received === udp.sent && (mtu === undefined || mtu.largest === mtu.interface);
}
