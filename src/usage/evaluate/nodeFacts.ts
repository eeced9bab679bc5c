import { Interner } from '../../runtime/process/interner.ts';
import { isOn, isPhysicalDriver, isSlave, isTeam } from './devices/deviceKinds.ts';
import { chooseDevices, isBond, type CountedDevice, type NodeDevices } from './devices/devices.ts';
import { isFailover } from './devices/functions.ts';
import { doubtOf, unclearOf } from './devices/doubt.ts';
import { isUsable } from './speeds.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';

/** The facts of one node: everything but the rates. */
export interface NodeFacts extends Pick<NodeSamples, 'soleInstance' | 'duplicate'> {
  readonly devices: NodeDevices;
  /** Sum of the counters of the devices that count. */
  readonly transmitBytesTotal: number;
  /** Sum of the counters of all devices in the answer. */
  readonly sentByAll: number;
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
    let sentByAll = 0;
    for (const { total } of samples.devices.values()) sentByAll += total ?? 0;
    const instances = soleInstance === undefined ? samples.instances : undefined;
    return { devices, transmitBytesTotal, sentByAll, soleInstance, instances, duplicate };
  }
}

/** JSON writes NaN as `null`, which is unambiguous here. It omits the entries of a map, so append them. */
function textOfKind(devices: NodeDevices): string {
  return JSON.stringify([devices, ...devices.excluded]);
}

function devicesOf({ devices, invalid }: NodeSamples, exclude: RegExp): NodeDevices {
  const { counted: names, excluded, ambiguousUplinks, withoutCounter, functions } = chooseDevices(devices, exclude);
  const speedOf = (name: string): number | undefined => devices.get(name)?.speed;
  const counted = names.map((name): CountedDevice => {
    const facts = devices.get(name) ?? {};
    const { speed, total, flags, driver } = facts;
    const unclear = unclearOf(name, facts, isFailover(name, facts, devices));
    return {
      name,
      speed,
      invalid: invalid.get(name) ?? negativeCounter(name, total),
      ...(isBond(name, facts) && { isBond: true }),
      ...(isPhysicalDriver(driver) && { isNic: true }),
      ...(!isOn(flags) && { isOff: true }),
      ...(unclear !== undefined && { unclear }),
    };
  });
  const lacksDrivers = [...devices.values()].some(({ driver }) => driver) ? undefined : true;
  const doubt = doubtOf({ counted, excluded });
  const canHaveSlaves = ({ name, isBond: bond, unclear }: CountedDevice): boolean =>
    bond === true ||
    unclear?.hasSlave === true ||
    unclear?.isFailover === true ||
    isTeam(name, devices.get(name) ?? {});
  const slaves = [...excluded].flatMap(([name, why]) =>
    why === 'Slave' && isSlave(devices.get(name) ?? {}) ? name : [],
  );
  const areLeft = slaves.length > 0 && !counted.some(canHaveSlaves);
  return {
    counted,
    names,
    excluded,
    ambiguousUplinks,
    lacksDrivers,
    ...(withoutCounter && {
      withoutCounter: withoutCounter.map((name) => ({ name, speed: speedOf(name) })),
    }),
    ...(functions && {
      functions: functions.map((each) => {
        const speed = speedOf(each.physical);
        return { ...each, speed: isUsable(speed) ? speed : speedOf(each.name) };
      }),
    }),
    ...(areLeft && { slaves: slaves.sort().map((name) => ({ name, speed: speedOf(name) })) }),
    ...(doubt !== undefined && { doubt }),
  };
}

/** Message about a counter below 0, which cannot be. Otherwise undefined. */
function negativeCounter(device: string, total: number | undefined): string | undefined {
  return total !== undefined && total < 0 ? `counter of ${device} is ${total}` : undefined;
}
