import { Interner } from '../../runtime/process/interner.ts';
import { chooseDevices, isBond, type DeviceChoice } from './devices/devices.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';

/** A device that counts, without its rate. */
export interface CountedDevice {
  readonly name: string;
  /** Bytes per second. NaN if the sample is not a number, undefined if there is no sample. */
  readonly speed: number | undefined;
  /** Message about an invalid counter. */
  readonly invalid: string | undefined;
  /** Set for a bond. Its speed is that of its active slaves. */
  readonly isBond?: true | undefined;
}

/** The devices of a node. Nodes with equal devices share one object. */
export interface NodeDevices extends Pick<DeviceChoice, 'excluded' | 'ambiguousUplinks'> {
  /** Sorted by name. */
  readonly counted: readonly CountedDevice[];
  /** Their names. */
  readonly names: readonly string[];
  /** Set if the exporter reports no driver at all: then only names, links and flags identify virtual devices. */
  readonly lacksDrivers: true | undefined;
}

/** The facts of one node: everything but the rates. */
export interface NodeFacts extends Pick<NodeSamples, 'soleInstance' | 'duplicate'> {
  readonly devices: NodeDevices;
  /** Sum of the counters of the devices that count. */
  readonly transmitBytesTotal: number;
  /** Set only if `soleInstance` is undefined. */
  readonly instances: ReadonlySet<string> | undefined;
}

/**
 * Reduces the samples of a node to what a pass needs. Large clusters keep the result for several passes. Equal devices
 * are stored once, because most clusters have few kinds of nodes.
 */
export class FactsCondenser {
  readonly #exclude: RegExp;
  readonly #kinds = new Interner<NodeDevices>({ textOf: textOfKind });

  /** @param exclude devices whose whole name matches do not count */
  constructor(exclude: RegExp) {
    this.#exclude = exclude;
  }

  condense(samples: NodeSamples): NodeFacts {
    const { soleInstance, duplicate } = samples;
    const devices = this.#kinds.share(devicesOf(samples, this.#exclude));
    const transmitBytesTotal = devices.names.reduce((sum, name) => sum + (samples.devices.get(name)?.total ?? 0), 0);
    const instances = soleInstance === undefined ? samples.instances : undefined;
    return { devices, transmitBytesTotal, soleInstance, instances, duplicate };
  }
}

/** JSON writes NaN as `null`, which is unambiguous here. It omits the entries of a map, so append them. */
function textOfKind(devices: NodeDevices): string {
  return JSON.stringify([devices, ...devices.excluded]);
}

function devicesOf({ devices, invalid }: NodeSamples, exclude: RegExp): NodeDevices {
  const { counted: names, excluded, ambiguousUplinks } = chooseDevices(devices, exclude);
  const counted = names.map((name): CountedDevice => {
    const facts = devices.get(name) ?? {};
    const { speed, total } = facts;
    const device = { name, speed, invalid: invalid.get(name) ?? negativeCounter(name, total) };
    return isBond(facts) ? { ...device, isBond: true } : device;
  });
  const lacksDrivers = [...devices.values()].some(({ driver }) => driver) ? undefined : true;
  return { counted, names, excluded, ambiguousUplinks, lacksDrivers };
}

/** Message about a counter below 0, which cannot be. Otherwise undefined. */
function negativeCounter(device: string, total: number | undefined): string | undefined {
  return total !== undefined && total < 0 ? `counter of ${device} is ${total}` : undefined;
}
