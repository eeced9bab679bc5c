import type { DeviceFacts } from '../../series/nodeSamples.ts';
import {
  isActiveNic,
  isBridge,
  isInfiniBand,
  isMacvlan,
  isPairOrChild,
  isSlave,
  isTeam,
  isUplinkName,
  isVirtual,
  mayBeNic,
  MACVLAN_NAME,
  VETH_NAME,
  VLAN_NAME,
  isVirtualDriver,
} from './deviceKinds.ts';
import { Functions, type VirtualFunction } from './functions.ts';

export {
  BRIDGE_NAME,
  DEFAULT_EXCLUDED_DEVICES,
  isBond,
  MACVLAN_NAME,
  VETH_NAME,
  VIRTUAL_DRIVERS,
  VLAN_NAME,
} from './deviceKinds.ts';

/** Why a device is not measured; see the table of `chooseDevices`. Filtered: see `DeviceFilter`. */
export type Exclusion =
  | 'Loopback'
  | 'Name'
  | 'Vlan'
  | 'Absent'
  | 'Slave'
  | 'Driver'
  | 'Tunnel'
  | 'Child'
  | 'Bridge'
  | 'Function'
  | 'Team'
  | 'InfiniBand'
  | 'Filtered';

/** Which devices of a node count. */
interface DeviceChoice {
  /** Sorted names. */
  counted: readonly string[];
  excluded: ReadonlyMap<string, Exclusion>;
  /** Veths or macvlans of which any can be the uplink. If it is not empty, no device counts. */
  ambiguousUplinks: readonly string[];
  /** Names of devices excluded as Absent that would count with a counter, as their other facts show. Absent if there is none. */
  withoutCounter?: readonly string[] | undefined;
  /** Devices excluded as Function that have traffic of their own, sorted by name. Absent if there is none. */
  functions?: readonly VirtualFunction[] | undefined;
}

/** Most nodes share these empty values, which saves memory. */
const NOTHING: ReadonlyMap<string, Exclusion> = new Map();
const NONE: readonly string[] = [];
const VLAN = new RegExp(`^(?:${VLAN_NAME})$`);
const VETH = new RegExp(`^(?:${VETH_NAME})$`);
const MACVLAN = new RegExp(`^(?:${MACVLAN_NAME})$`);

/** Matches the whole name, like a PromQL matcher with the same text. Throws SyntaxError for an invalid pattern. */
export function wholeName(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

/**
 * Decides which devices of one node count. The first row that applies gives a device its rank. Only the devices of the
 * best rank on the node count. Rank 1 is the best.
 *
 * | Rank     | Excluded as  | Device |
 * |----------|--------------|--------|
 * | never    | Loopback     | lo, whatever the pattern |
 * | never *  | Name         | its name matches `exclude` |
 * | never    | Vlan         | named like a VLAN, eth0.100 |
 * | never    | Absent       | no byte counter. If a NIC lacks its counter, the node may have no percent, see `lackOfCounter` |
 * | never    | Slave        | IFF_SLAVE: its bond counts, or Azure's synthetic device; or named as the standby of a failover device, ens3nsby with ens3 |
 * | uplink   | Driver       | driver macvlan or ipvlan |
 * | never    | Driver       | another virtual driver: bridge, tunnel, VLAN, Open vSwitch, … |
 * | uplink   | Driver/Child | driver veth or netkit; or no driver of a NIC, and iface_link is not its own index |
 * | never    | Tunnel       | no driver of a NIC, and the flags of a tunnel: IFF_POINTOPOINT or IFF_NOARP |
 * | never    | Bridge/Name  | named like a bridge, br-… or breth0 with eth0, without a driver of a NIC. Bridge if it may be a NIC, see `doubtOf` |
 * | never    | Function     | a virtual function or sub-function on a node with its physical function, or with the port of a DPU. With traffic the node may have no percent, see `busyFunction` |
 * | 2        | Team         | a team: no metric identifies its ports, so the ports count instead |
 * | 3        | InfiniBand   | IP over InfiniBand, on a node with Ethernet |
 * | 1        |              | all others: Ethernet, bonds, Wi-Fi, USB, and the NICs of cloud providers |
 *
 * Rank `uplink` comes last. Its devices are pod interfaces and other devices on top of a NIC. On a node that is a
 * container, one of them is the uplink. Among several devices of this rank:
 *
 * 1. The devices with the usual name of an uplink (eth0) count, except a macvlan on top of another of them.
 * 2. Otherwise the macvlan counts if it is the only one.
 * 3. Otherwise, if there is no macvlan, the device counts if it is the only one.
 * 4. Otherwise they are ambiguous, and no device counts.
 *
 * If all devices have rank `never`, the same rules apply to the devices with the usual name of a macvlan. If there is
 * no macvlan, they apply to those with the usual name of a veth. Here it does not matter that `exclude` matches them
 * (*).
 */
export function chooseDevices(devices: ReadonlyMap<string, DeviceFacts>, exclude: RegExp): DeviceChoice {
  const excluded = new Map<string, Exclusion>();
  const ranked = new Map<Rank, string[]>();
  const functions = new Functions(devices);
  const absent: [name: string, rank: Rank][] = [];
  const ofPhysical: VirtualFunction[] = [];
  for (const [name, facts] of devices) {
    const why = exclusionOf(name, facts, exclude, functions);
    const rank = rankOf(name, facts, why);
    if (rank !== undefined) namesOf(ranked, rank).push(name);
    if (why !== undefined) excluded.set(name, why);
    const rankOfAbsent =
      why === 'Absent' && isActiveNic(name, facts) ? RANK_OF.get(kindOf(name, facts, functions)) : undefined;
    if (rankOfAbsent !== undefined) absent.push([name, rankOfAbsent]);
    const virtual = why === 'Function' ? functions.describe(name, facts) : undefined;
    if (virtual !== undefined) ofPhysical.push(virtual);
  }
  const best = RANKS.find((rank) => ranked.has(rank));
  const withoutCounter = absent.filter(([, rank]) => best === undefined || RANKS.indexOf(rank) <= RANKS.indexOf(best));
  return {
    ...chosenOf(best, ranked, excluded, devices),
    ...(withoutCounter.length > 0 && { withoutCounter: withoutCounter.map(([name]) => name).sort() }),
    ...(ofPhysical.length > 0 && { functions: ofPhysical.sort((a, b) => (a.name < b.name ? -1 : 1)) }),
  };
}

function chosenOf(
  best: Rank | undefined,
  ranked: Map<Rank, string[]>,
  excluded: Map<string, Exclusion>,
  devices: ReadonlyMap<string, DeviceFacts>,
): DeviceChoice {
  if (best === undefined) return onlyUplink(byName(devices), excluded, devices);
  const names = namesOf(ranked, best);
  return best === 'uplink' ? onlyUplink(names, excluded, devices) : choice(names, excluded);
}

/** Best first. */
const RANKS = ['physical', 'team', 'infiniband', 'uplink'] as const;
type Rank = (typeof RANKS)[number];
const RANK_OF: ReadonlyMap<Exclusion | undefined, Rank> = new Map([
  [undefined, 'physical'],
  ['Team', 'team'],
  ['InfiniBand', 'infiniband'],
  ['Child', 'uplink'],
]);

function namesOf(ranked: Map<Rank, string[]>, rank: Rank): string[] {
  const names = ranked.get(rank) ?? [];
  ranked.set(rank, names);
  return names;
}

function exclusionOf(name: string, facts: DeviceFacts, exclude: RegExp, functions: Functions): Exclusion | undefined {
  if (name === 'lo') return 'Loopback';
  if (exclude.test(name)) return 'Name';
  if (VLAN.test(name)) return 'Vlan';
  return facts.total === undefined ? 'Absent' : kindOf(name, facts, functions);
}

function kindOf(name: string, facts: DeviceFacts, functions: Functions): Exclusion | undefined {
  if (isSlave(facts) || functions.isStandby(name)) return 'Slave';
  if (isPairOrChild(facts)) return facts.driver ? 'Driver' : 'Child';
  if (isVirtual(name, facts)) return isVirtualDriver(facts.driver) ? 'Driver' : 'Tunnel';
  if (isBridge(name, facts) || functions.isBridgeOnNic(name, facts)) return mayBeNic(facts) ? 'Bridge' : 'Name';
  if (functions.has(name, facts)) return 'Function';
  if (isTeam(name, facts)) return 'Team';
  return isInfiniBand(name, facts) ? 'InfiniBand' : undefined;
}

function rankOf(name: string, facts: DeviceFacts, why: Exclusion | undefined): Rank | undefined {
  if (why === 'Driver') return isPairOrChild(facts) || isMacvlan(name, facts) ? 'uplink' : undefined;
  return RANK_OF.get(why);
}

/** Devices with the usual name of a macvlan; if there are none, those with the usual name of a veth. */
function byName(devices: ReadonlyMap<string, DeviceFacts>): string[] {
  const named = (pattern: RegExp): string[] =>
    [...devices].filter(([name, { total }]) => pattern.test(name) && total !== undefined).map(([name]) => name);
  const macvlans = named(MACVLAN);
  return macvlans.length > 0 ? macvlans : named(VETH);
}

function onlyUplink(
  candidates: readonly string[],
  excluded: Map<string, Exclusion>,
  devices: ReadonlyMap<string, DeviceFacts>,
): DeviceChoice {
  const usual = candidates.filter(isUplinkName);
  const uplinks = usual.length > 0 ? withoutChildren(usual, devices) : macvlansFirst(candidates, devices);
  if (usual.length === 0 && uplinks.length > 1) {
    return { counted: [], excluded, ambiguousUplinks: uplinks.toSorted() };
  }
  for (const name of uplinks) excluded.delete(name);
  return choice(uplinks, excluded);
}

function macvlansFirst(names: readonly string[], devices: ReadonlyMap<string, DeviceFacts>): readonly string[] {
  const macvlans = names.filter((name) => isMacvlan(name, devices.get(name) ?? {}));
  return macvlans.length > 0 ? macvlans : names;
}

/**
 * Leaves out a macvlan on top of another device of the list. Ignores iface_link of a veth: it is an index in another
 * namespace.
 */
function withoutChildren(names: readonly string[], devices: ReadonlyMap<string, DeviceFacts>): string[] {
  const ids = new Set(names.map((name) => devices.get(name)?.ifaceId));
  return names.filter((name) => {
    const facts = devices.get(name) ?? {};
    return !(isMacvlan(name, facts) && facts.ifaceLink !== facts.ifaceId && ids.has(facts.ifaceLink));
  });
}

function choice(names: readonly string[], excluded: ReadonlyMap<string, Exclusion>): DeviceChoice {
  return { counted: names.toSorted(), excluded: excluded.size === 0 ? NOTHING : excluded, ambiguousUplinks: NONE };
}

/** The properties of a device that its facts do not show. Absent if they show all. */
export interface Unclear {
  /** The flags are missing: it may be the slave of a bond. */
  readonly mayBeSlave?: true | undefined;
  /** It is no bond, but can have a slave: the synthetic device of Azure. */
  readonly hasSlave?: true | undefined;
  /** It is a failover device, which repeats the traffic of its slaves, and no flag shows these. */
  readonly isFailover?: true | undefined;
  /** The missing series that would show whether it is a NIC. */
  readonly lacks?: readonly string[] | undefined;
  /** It may be the bridge that has the name of the NIC: it has no driver and no speed. */
  readonly mayBeBridge?: true | undefined;
}

/** A device that counts, without its rate. */
export interface CountedDevice {
  readonly name: string;
  /** Bytes per second. NaN if the sample is not a number, undefined if there is no sample. */
  readonly speed: number | undefined;
  /** Message about an invalid counter. */
  readonly invalid: string | undefined;
  /** Set if the driver belongs to a NIC or a bond. Other facts can be of another network than the counter, see foreignSeries.ts. */
  readonly isNic?: true | undefined;
  /** Set for a bond. Its speed is the speed of its active slaves. */
  readonly isBond?: true | undefined;
  /** Set for a device that is switched off. A missing fact proves nothing. */
  readonly isOff?: true | undefined;
  /** The properties that its facts do not show. Absent if they show all. */
  readonly unclear?: Unclear | undefined;
}

/** The devices of a node. Nodes with equal devices share one object. */
export interface NodeDevices extends Pick<DeviceChoice, 'excluded' | 'ambiguousUplinks'> {
  /** Sorted by name. */
  readonly counted: readonly CountedDevice[];
  /** Their names. */
  readonly names: readonly string[];
  /** Set if the exporter reports no driver at all: then only names, links and flags identify virtual devices. */
  readonly lacksDrivers: true | undefined;
  /** NICs and bonds whose counter is missing, sorted by name. Absent if there is none. */
  readonly withoutCounter?: readonly Pick<CountedDevice, 'name' | 'speed'>[] | undefined;
  /** Virtual functions that do not count, with the speed of the physical function or, if it has none, their own. Absent if there is none. */
  readonly functions?: readonly (VirtualFunction & Pick<CountedDevice, 'speed'>)[] | undefined;
  /** Slaves by their flags, if no device that counts is a bond or can have slaves, sorted by name. Absent if there is none. */
  readonly slaves?: readonly Pick<CountedDevice, 'name' | 'speed'>[] | undefined;
  /** Message about missing facts, without which devices may count twice. Undefined if none matters. */
  readonly doubt?: string | undefined;
}
