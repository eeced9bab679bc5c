import { Interner } from '../../../runtime/process/interner.ts';
import type { Measurement, PeerResult, TargetResult, TcpResult, UdpResult } from '../../protocol/measurement.ts';

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
