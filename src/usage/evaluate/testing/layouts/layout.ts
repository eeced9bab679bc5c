/** A device of a layout, as node_exporter shows it while the node's uplink is 95 % full. */
export interface LayoutDevice {
  readonly name: string;
  /** As node_ethtool_info has it. */
  readonly driver: string;
  /** Gbit/s; none where the driver tells no speed, negative where the link is down. */
  readonly speed?: number | undefined;
  /** Gbit/s that it sends. */
  readonly load: number;
  /** IFF_* of netdevice(7). */
  readonly flags: number;
  /** The device that it lies on, or an index in another namespace. Its own without. */
  readonly on?: string | number | undefined;
}

/** The devices of one kind of node, and what must come of them at 95 % load of its uplink. */
export interface HostLayout {
  readonly name: string;
  /** What about it is easily measured wrongly. */
  readonly why: string;
  readonly devices: readonly LayoutDevice[];
  /** The devices that count, sorted. */
  readonly counted: readonly string[];
  /** Devices that count with the annotation only, since they tell no speed. They send nothing. */
  readonly idle?: readonly string[];
  /** The annotation: what the uplink can carry. */
  readonly capacity: string;
  /** Why there is no percent without the annotation, or in any case. Measured without it. */
  readonly unknown?: { readonly reason: 'NoCapacity' | 'AmbiguousUplink'; readonly evenWithAnnotation?: true };
  /** Where the names come from. */
  readonly source?: string;
}

/** What a full uplink of 10 Gbit/s sends in all layouts. */
export const LOAD = 9.5;

type Facts = Partial<Omit<LayoutDevice, 'name' | 'driver'>>;

/** UP, BROADCAST, MULTICAST. */
const ETHERNET = 0x1003;
/** UP, POINTOPOINT, NOARP and, of tun, MULTICAST. */
const TUNNEL = 0x1091;
/** UP, BROADCAST, NOARP. */
const DUMMY = 0x83;
const SLAVE = ETHERNET | 0x800;
const MASTER = ETHERNET | 0x400;

/** A NIC of 10 Gbit/s that is 95 % full. */
export function nic(name: string, driver = 'ixgbe', facts: Facts = {}): LayoutDevice {
  return { name, driver, speed: 10, load: LOAD, flags: ETHERNET, ...facts };
}

/** A NIC beneath a bond or Azure's synthetic device. */
export function slave(name: string, driver = 'ixgbe', facts: Facts = {}): LayoutDevice {
  return nic(name, driver, { flags: SLAVE, ...facts });
}

export function bond(name: string, facts: Facts = {}): LayoutDevice {
  return nic(name, 'bonding', { flags: MASTER, ...facts });
}

/** A bridge with the NIC in it. The kernel gives it the speed of its fastest port. */
export function bridge(name: string, driver = 'bridge'): LayoutDevice {
  return nic(name, driver);
}

/** Sends all that the node sends, before the NIC does. */
export function tunnel(name: string, driver = 'tun'): LayoutDevice {
  return { name, driver, speed: driver === 'tun' ? 10 : undefined, load: LOAD, flags: TUNNEL };
}

/** A tunnel that carries Ethernet. */
export function overlay(name: string, driver = 'vxlan'): LayoutDevice {
  return nic(name, driver);
}

export function dummy(name: string): LayoutDevice {
  return { name, driver: 'dummy', load: 0, flags: DUMMY };
}

/** The node's ends of pods' interfaces: at another index in the namespace of each pod, of 10 Gbit/s, as veths all are. */
export function pods(names: readonly string[], driver = 'veth'): LayoutDevice[] {
  return names.map((name) => nic(name, driver, { load: LOAD / names.length, on: 2 }));
}
