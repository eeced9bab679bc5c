import type { DeviceFacts } from '../../series/nodeSamples.ts';
import { isBond, isBridge, isHardwareName, isOn, isUplinkName, isPhysicalDriver } from './deviceKinds.ts';
import type { Exclusion, CountedDevice, NodeDevices, Unclear } from './devices.ts';

const FLAGS = 'node_network_flags';
const LINK = 'node_network_iface_link';
const ID = 'node_network_iface_id';
/** The name of Azure's synthetic device. It has no flag of a master. */
const SYNTHETIC_NAME = /^eth[0-9]+$/;
/** A PCI domain other than 0 is in the name: such as the virtual functions of Azure, enP1s1. */
const isVirtualFunction = ({ name }: CountedDevice): boolean => name.startsWith('enP');
/** A message names this many devices. */
const MOST_NAMES = 5;

/**
 * | missing                | the device may be                              | unless                                         |
 * |------------------------|------------------------------------------------|------------------------------------------------|
 * | flags                  | the slave of a bond                            | no device of the node is, or may be, a bond    |
 * | flags, of enP…         | a virtual function below eth0, the synthetic device of Azure | the driver of eth0 is known      |
 * | flags                  | a bond, a tunnel, or the synthetic device of Azure | a NIC or a bond has such a driver or name         |
 * | iface_link or iface_id | a veth, a VLAN or a macvlan                    | a NIC has such a driver or name, or the name is eth0 |
 * | driver and speed       | a bridge, if another device is named br-…   | it is down                                     |
 *
 * @param failover true if it is a failover device, which can have slaves that no flag shows
 */
export function unclearOf(name: string, facts: DeviceFacts, failover = false): Unclear | undefined {
  const { driver, flags, ifaceLink, ifaceId, speed } = facts;
  const isNic = isPhysicalDriver(driver) || isHardwareName(name);
  const bond = isBond(name, facts);
  const lacks: string[] = [];
  if (flags === undefined && !isNic && !bond) lacks.push(FLAGS);
  if (!isNic && !isUplinkName(name) && !bond) {
    if (ifaceLink === undefined) lacks.push(LINK);
    if (ifaceId === undefined) lacks.push(ID);
  }
  const unclear: Unclear = {
    mayBeSlave: flags === undefined && !bond ? true : undefined,
    hasSlave: driver === 'hv_netvsc' ? true : undefined,
    isFailover: failover ? true : undefined,
    lacks: lacks.length > 0 ? lacks : undefined,
    mayBeBridge: !driver && speed === undefined && isOn(flags) && !bond ? true : undefined,
  };
  return Object.values(unclear).some((each) => each !== undefined) ? unclear : undefined;
}

/**
 * Message about devices of which one may repeat the traffic of another, or undefined if the facts show that none does.
 * A device that is alone repeats no other one. Without a proof the node has no percent: it could be half or twice as high.
 */
export function doubtOf({ counted, excluded }: Pick<NodeDevices, 'counted' | 'excluded'>): string | undefined {
  if (counted.every(({ unclear }) => unclear === undefined)) return undefined;
  return belowFailover(counted) ?? repeated(counted, excluded) ?? exchanged(counted, excluded);
}

/** Returns the doubt about slaves of a failover device, which have no flag, unlike slaves of a bond. */
function belowFailover(counted: readonly CountedDevice[]): string | undefined {
  const namesOf = (failover: boolean): string[] =>
    counted.flatMap(({ name, unclear }) => ((unclear?.isFailover === true) === failover ? [name] : []));
  const [masters, others] = [namesOf(true), namesOf(false)];
  if (masters.length === 0 || others.length === 0) return undefined;
  return (
    `${listOf(others)} may be below ${listOf(masters)}, a failover device (net_failover) that repeats the traffic of its slaves: no series shows ` +
    `which these are; exclude ${listOf(others)}: spec.devices`
  );
}

function repeated(counted: readonly CountedDevice[], excluded: NodeDevices['excluded']): string | undefined {
  const unknown = counted.filter(({ unclear }) => unclear?.lacks !== undefined);
  const isMaster = ({ isBond: bond, unclear }: CountedDevice): boolean => bond === true || unclear?.hasSlave === true;
  const masters = counted.filter(isMaster);
  const maySlave = counted.filter((one) => one.unclear?.mayBeSlave && !isMaster(one));
  const isBelowSynthetic = counted.some(({ name, isNic }) => SYNTHETIC_NAME.test(name) && isNic !== true);
  const slaves =
    masters.length > 0 ? maySlave : isBelowSynthetic && unknown.length === 0 ? maySlave.filter(isVirtualFunction) : [];
  const doubted = new Set([...unknown, ...slaves]);
  const isAlone = counted.length === 1 && !hasOther(excluded);
  if (doubted.size === 0 || isAlone) return undefined;
  const lacking = new Set(unknown.flatMap(({ unclear }) => unclear?.lacks ?? []));
  if (slaves.length > 0) lacking.add(FLAGS);
  const series = [...lacking].join(' and ');
  const names = listOf([...doubted].map(({ name }) => name));
  return (
    `Prometheus has no ${series} of ${names}, so one may carry the traffic of another device; ` +
    `keep ${series}, or choose the devices: spec.devices`
  );
}

/** Kube-OVN (exchangeLinkName) gives the bridge the name of the NIC, and the NIC the name br-… */
function exchanged(counted: readonly CountedDevice[], excluded: NodeDevices['excluded']): string | undefined {
  // Without a counter it is excluded as Absent, whatever it is.
  const mayBeBridge = (name: string, why: Exclusion): boolean =>
    why === 'Bridge' || (why === 'Absent' && isBridge(name, {}));
  const bridges = [...excluded].flatMap(([name, why]) => (mayBeBridge(name, why) ? [name] : []));
  const nics = counted.flatMap(({ name, unclear }) => (unclear?.mayBeBridge ? [name] : []));
  if (bridges.length === 0 || nics.length === 0) return undefined;
  return (
    `${listOf(nics)} or ${listOf(bridges)} may be a bridge: Prometheus has no drivers, and no speed of ${listOf(nics)}; ` +
    'keep node_ethtool_info (--collector.ethtool of node-exporter), or exclude the bridge by name'
  );
}

/** True if a device that does not count would count if the counted one did not: the uplink of a container, for example. */
function hasOther(excluded: NodeDevices['excluded']): boolean {
  return [...excluded].some(
    ([name, why]) => why === 'InfiniBand' || why === 'Team' || (why === 'Child' && isUplinkName(name)),
  );
}

function listOf(names: readonly string[]): string {
  const sorted = names.toSorted();
  const more = sorted.length - MOST_NAMES;
  return sorted.slice(0, MOST_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
