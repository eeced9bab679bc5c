import { Interner } from '../../runtime/process/interner.ts';
import { chooseDevices, type DeviceChoice } from './devices.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';

/** A device that counts, but for its rate. */
export interface CountedDevice {
  readonly name: string;
  /** Bytes per second; NaN where the sample is no number, undefined where there is none. */
  readonly speed: number | undefined;
  /** What is wrong with its counter, in words. */
  readonly invalid: string | undefined;
}

/** The devices of a node. Nodes of one kind have one of these together. */
export interface NodeDevices extends Pick<DeviceChoice, 'excluded' | 'ambiguousUplinks'> {
  /** Sorted by name. */
  readonly counted: readonly CountedDevice[];
  /** Their names. */
  readonly names: readonly string[];
  /** Set where the exporter reports the driver of none of its devices: only names, links and flags show virtual ones. */
  readonly lacksDrivers: true | undefined;
}

/** What facts say of one node. */
export interface NodeFacts extends Pick<NodeSamples, 'soleInstance' | 'duplicate'> {
  readonly devices: NodeDevices;
  /** Sum of the counters of the devices that count. */
  readonly transmitBytesTotal: number;
  /** Where there is no sole one. */
  readonly instances: ReadonlySet<string> | undefined;
}

/**
 * Condenses samples into what is looked at in each pass: those of large clusters serve several. There are as many as
 * nodes, and mostly few kinds of nodes.
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

/** JSON has no NaN, but shows where one stands: `null`, which no other speed is. It shows nothing of a map. */
function textOfKind(devices: NodeDevices): string {
  return JSON.stringify([devices, ...devices.excluded]);
}

function devicesOf({ devices, invalid }: NodeSamples, exclude: RegExp): NodeDevices {
  const { counted: names, excluded, ambiguousUplinks } = chooseDevices(devices, exclude);
  const counted = names.map((name): CountedDevice => {
    const { speed, total } = devices.get(name) ?? {};
    return { name, speed, invalid: invalid.get(name) ?? negative('counter', name, total) };
  });
  const lacksDrivers = [...devices.values()].some(({ driver }) => driver) ? undefined : true;
  return { counted, names, excluded, ambiguousUplinks, lacksDrivers };
}

/** In words, what is wrong with a counter below 0, or its rate, which takes resets into account. */
export function negative(what: string, device: string, value: number | undefined): string | undefined {
  return value !== undefined && value < 0 ? `${what} of ${device} is ${value}` : undefined;
}
