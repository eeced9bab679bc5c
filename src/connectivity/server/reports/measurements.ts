import type { Report } from '../../../api/agent/report.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { Interner } from '../../../runtime/process/interner.ts';
import { LEAST_SLOW_MS } from '../../localise/pairs/latency.ts';
import type { MeasurementBefore, MeasurementTimes } from '../../localise/view.ts';
import type {
  Measurement,
  PeerResult,
  Target,
  TargetResult,
  TcpResult,
  UdpResult,
} from '../../protocol/measurement.ts';

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

/** Whether nothing was lost or slow, neither datagrams nor sizes of packets. */
export function isPerfect({ tcp, udp, mtu }: PeerResult): boolean {
  if ((udp.ms ?? 0) >= LEAST_SLOW_MS) return false;
  return tcp.ok && udp.received === udp.sent && (mtu === undefined || mtu.largest === mtu.interface);
}

/** Names and addresses of 10,000 agents on 5,000 nodes, and some more. */
const MOST_TEXTS = 25_000;
/** Results without a time, and packet sizes: few are different. */
const MOST_RESULTS = 1_000;

/** A measurement as the server keeps it. */
export interface CompactMeasurement extends Omit<Measurement, 'heard' | 'tookMs'> {
  /** Nodes whose datagrams came since the report before: how many came is not needed. */
  readonly heard: readonly string[];
}

/**
 * Makes measurements small: 10,000 agents with 10 peers each have 100,000 results, about 350 bytes each as parsed and 184
 * as returned. Equal texts and equal parts are shared. Objects with a time are copied into literals, because V8 gives
 * a literal room for its own properties only. The nodes that were heard are a list: for an object with such keys, V8 would
 * keep a description of its own, of 600 bytes.
 */
export class Compactor {
  readonly #texts = new Interner<string>({ textOf: (text) => text, most: MOST_TEXTS });
  readonly #results = new Interner<object>({ most: MOST_RESULTS });

  /** Returns what is kept of a measurement. Peers and targets are equal to the given ones. */
  compact({ plane, port, peers, targets, refused = [], heard }: Measurement): CompactMeasurement {
    return {
      plane,
      port,
      peers: peers.map((peer) => this.#peer(peer)),
      targets: targets.map((target) => this.#target(target)),
      // Rare, so that V8 shares the shape of all other measurements.
      ...(refused.length > 0 && { refused }),
      heard: Object.entries(heard).flatMap(([node, count]) => (count > 0 ? [this.#text(node)] : [])),
    };
  }

  #peer(peer: PeerResult): PeerResult {
    const [node, address] = [this.#text(peer.node), this.#text(peer.address)];
    const [tcp, udp] = [this.#tcp(peer.tcp), this.#udp(peer.udp)];
    return peer.mtu === undefined ? { node, address, tcp, udp } : { node, address, tcp, udp, mtu: this.#shared(peer.mtu) };
  }

  #tcp(result: TcpResult): TcpResult {
    const { ok, ms, error } = result;
    return ms === undefined || error !== undefined ? this.#shared(result) : { ok, ms };
  }

  #udp(result: UdpResult): UdpResult {
    const { sent, received, ms, error } = result;
    return ms === undefined || error !== undefined ? this.#shared(result) : { sent, received, ms };
  }

  #target(result: TargetResult): TargetResult {
    const { target, address, ok, ms, error } = result;
    if (ms === undefined || error !== undefined) return this.#shared(result);
    return { target, address: this.#text(address), ok, ms };
  }

  #text(text: string): string {
    return this.#texts.share(text);
  }

  #shared<T extends object>(result: T): T {
    return this.#results.share(result) as T;
  }
}
