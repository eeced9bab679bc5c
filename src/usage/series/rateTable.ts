import { NodeSamples, type DeviceSamples } from './nodeSamples.ts';

/** The rate of one device. */
interface KeptDevice extends DeviceSamples {
  rate: number | undefined;
  /** Number of the last answer that contained the device. */
  answer: number;
}

/** The rates of one node. */
class KeptNode extends NodeSamples {
  declare readonly devices: Map<string, KeptDevice>;
  /** Number of the last answer that contained the node. */
  answer = 0;
  /** Number of its devices in that answer. */
  named = 0;
}

/** Where the table stores the rate of a series. Use `returnTo` of the same table to check that it is still valid. */
export interface Place {
  /** Identifies the table and the version of the node list. Places with another object are invalid. */
  readonly among: object;
  readonly node: KeptNode;
  readonly device: KeptDevice;
}

/**
 * The rates of one query. Each answer overwrites the objects of the previous one. New objects in each pass would cost
 * more: V8's garbage collector spends most time on objects that survive a pass, and a series with a known place needs
 * no lookup.
 *
 * | When                                | What happens                                                         |
 * |-------------------------------------|----------------------------------------------------------------------|
 * | an answer begins (`begin`)          | `nodes` must not be read until `end`                                 |
 * | first series of a node              | its instances, invalid samples and duplicate are cleared             |
 * | first series of a device            | its rate is cleared                                                  |
 * | the answer ends (`end`)             | nodes and devices without a series are removed; `nodes` is valid     |
 * | the answer is truncated: no `end`   | the table is not used again: `next` returns a new one                |
 * | the cluster's nodes change (`next`) | all places become invalid: each series is resolved again             |
 *
 * A table has one writer, its newest answer. If a pass is abandoned, its answer may still be written after the next
 * pass starts. Its table has no `end` yet, so the next pass gets another table. Readers must finish before the next
 * `begin`.
 */
export class RateTable {
  readonly #nodes = new Map<string, KeptNode>();
  /** Number of the newest answer. */
  #answer = 0;
  /** Number of the newest answer that ended. */
  #ended = 0;
  #resolvedAmong: object | undefined = undefined;
  #places: object = {};

  /** The rates of the newest answer. Valid from its `end` until the next `begin`. */
  get nodes(): Map<string, NodeSamples> {
    return this.#nodes;
  }

  /**
   * The table for the next answer.
   *
   * @param nodes the cluster's nodes: the same object only if no node was added, removed or changed
   */
  next(nodes: object): RateTable {
    const table = this.#answer === this.#ended ? this : new RateTable();
    if (table.#resolvedAmong !== nodes) table.#places = {};
    table.#resolvedAmong = nodes;
    return table;
  }

  /** Starts an answer. */
  begin(): void {
    this.#answer++;
  }

  /** Records that the answer contains a node. */
  node(name: string): NodeSamples {
    let node = this.#nodes.get(name);
    if (node === undefined) this.#nodes.set(name, (node = new KeptNode()));
    this.#named(node);
    return node;
  }

  /**
   * Records that the answer contains a device of a node.
   *
   * @param node as `node` returned it
   */
  device(node: NodeSamples, name: string): DeviceSamples {
    return this.#device(keptNode(node), name);
  }

  /** Like `device`, but returns the place of its rate. */
  place(node: NodeSamples, name: string): Place {
    const kept = keptNode(node);
    return { among: this.#places, node: kept, device: this.#device(kept, name) };
  }

  /**
   * Records that the answer contains the node and device of a place. Returns false, without effect, if it is invalid.
   */
  returnTo(place: Place): boolean {
    const { among, node, device } = place;
    // `end` removed the devices that the last complete answer did not contain.
    if (among !== this.#places || device.answer < this.#ended) return false;
    this.#named(node);
    this.#namedDevice(node, device);
    return true;
  }

  /** Call it after the last series of a complete answer. */
  end(): void {
    this.#ended = this.#answer;
    for (const [name, node] of this.#nodes) {
      if (node.answer === this.#answer) dropUnnamed(node);
      else this.#nodes.delete(name);
    }
  }

  #device(node: KeptNode, name: string): KeptDevice {
    let device = node.devices.get(name);
    if (device === undefined) node.devices.set(name, (device = { rate: undefined, source: undefined, answer: 0 }));
    this.#namedDevice(node, device);
    return device;
  }

  #named(node: KeptNode): void {
    if (node.answer === this.#answer) return;
    node.answer = this.#answer;
    node.named = 0;
    node.clear();
  }

  #namedDevice(node: KeptNode, device: KeptDevice): void {
    if (device.answer === this.#answer) return;
    device.answer = this.#answer;
    device.rate = undefined;
    node.named++;
  }
}

/** A node must come from `RateTable.node`. Throws TypeError for any other. */
function keptNode(node: NodeSamples): KeptNode {
  if (node instanceof KeptNode) return node;
  throw new TypeError('the node is not one of a RateTable');
}

/** Removes the devices that the answer did not contain. Skips the loop for most nodes, which have none. */
function dropUnnamed({ answer, named, devices }: KeptNode): void {
  if (named === devices.size) return;
  for (const [name, device] of devices) if (device.answer !== answer) devices.delete(name);
}
