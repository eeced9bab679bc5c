import { NodeSamples, type DeviceSamples } from './nodeSamples.ts';

/** The rate of one device. */
interface KeptDevice extends DeviceSamples {
  rate: number | undefined;
  /** The last answer that named the device. */
  answer: number;
}

/** The rates of one node. */
class KeptNode extends NodeSamples {
  declare readonly devices: Map<string, KeptDevice>;
  /** The last answer that named the node. */
  answer = 0;
  /** How many of its devices that answer has named. */
  named = 0;
}

/** Where the rate of a series is kept. Only the table that made it knows whether it still holds. */
export interface Place {
  /** The places of one table for the same nodes of the cluster have this object in common. */
  readonly among: object;
  readonly node: KeptNode;
  readonly device: KeptDevice;
}

/**
 * The rates of one query, kept from answer to answer and overwritten: objects that live from one pass to the next are
 * what V8's garbage collector works on longest, and a series whose place is known need not be looked up again.
 *
 * | When                                     | What happens                                                         |
 * |------------------------------------------|----------------------------------------------------------------------|
 * | an answer begins (`begin`)               | `nodes` must not be read until the answer has ended                  |
 * | the answer names a node for the 1st time | its instances, invalid samples and duplicate are cleared             |
 * | the answer names a device the first time | its rate is cleared                                                  |
 * | the answer ends (`end`)                  | nodes and devices that it did not name are dropped; `nodes` is valid |
 * | the answer breaks off: no `end`          | the table is not used again: `next` returns a new one                |
 * | the cluster's nodes change (`next`)      | all places are dropped: each series is resolved again                |
 *
 * A table has one writer, its newest answer. A writer that is late, since its pass was given up, has a table of its own:
 * its answer had not ended when the next pass began. A reader must be done before the next answer begins.
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
   * @param nodes those that series are resolved among: the same object only if no node has come, gone or changed
   */
  next(nodes: object): RateTable {
    const table = this.#answer === this.#ended ? this : new RateTable();
    if (table.#resolvedAmong !== nodes) table.#places = {};
    table.#resolvedAmong = nodes;
    return table;
  }

  /** An answer begins. */
  begin(): void {
    this.#answer++;
  }

  /** The answer names a node. */
  node(name: string): NodeSamples {
    let node = this.#nodes.get(name);
    if (node === undefined) this.#nodes.set(name, (node = new KeptNode()));
    this.#named(node);
    return node;
  }

  /**
   * The answer names a device of a node.
   *
   * @param node as `node` returned it
   */
  device(node: NodeSamples, name: string): DeviceSamples {
    return this.#device(keptNode(node), name);
  }

  /** The same; returns where the rate of the device is kept. */
  place(node: NodeSamples, name: string): Place {
    const kept = keptNode(node);
    return { among: this.#places, node: kept, device: this.#device(kept, name) };
  }

  /** The answer names the node and the device of a place. False, and nothing is done, where the place holds no more. */
  returnTo(place: Place): boolean {
    const { among, node, device } = place;
    // What the last answer that ended did not name is dropped.
    if (among !== this.#places || device.answer < this.#ended) return false;
    this.#named(node);
    this.#namedDevice(node, device);
    return true;
  }

  /** The answer was read to its end. */
  end(): void {
    this.#ended = this.#answer;
    for (const [name, node] of this.#nodes) {
      if (node.answer === this.#answer) dropUnnamed(node);
      else this.#nodes.delete(name);
    }
  }

  #device(node: KeptNode, name: string): KeptDevice {
    let device = node.devices.get(name);
    if (device === undefined) node.devices.set(name, (device = { rate: undefined, answer: 0 }));
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

/** A table makes all of its nodes. */
function keptNode(node: NodeSamples): KeptNode {
  if (node instanceof KeptNode) return node;
  throw new TypeError('the node is not one of a RateTable');
}

/** Drops the devices that the answer did not name. Most nodes have none, and are not gone through. */
function dropUnnamed({ answer, named, devices }: KeptNode): void {
  if (named === devices.size) return;
  for (const [name, device] of devices) if (device.answer !== answer) devices.delete(name);
}
