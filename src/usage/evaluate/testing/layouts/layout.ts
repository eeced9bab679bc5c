/** A device of a layout, as node_exporter reports it while the node's uplink is 95 % full. */
export interface LayoutDevice {
  readonly name: string;
  /** Label `driver` of node_ethtool_info. */
  readonly driver: string;
  /** Gbit/s. Absent if the driver reports no speed, negative if the link is down. */
  readonly speed?: number | undefined;
  /** Traffic that the device sends, Gbit/s. */
  readonly load: number;
  /** IFF_* of netdevice(7). */
  readonly flags: number;
  /** The device below this one, or an index in another namespace. Default: the device itself. */
  readonly on?: string | number | undefined;
}

/** The devices of one kind of node, and the expected result while its uplink is 95 % full. */
export interface HostLayout {
  readonly name: string;
  /** Why a simple measurement would be wrong. */
  readonly why: string;
  readonly devices: readonly LayoutDevice[];
  /** The devices that count, sorted. */
  readonly counted: readonly string[];
  /** Devices that count only with the annotation, because they report no speed. They send nothing. */
  readonly idle?: readonly string[];
  /** Value of the capacity annotation: the capacity of the uplink. */
  readonly capacity: string;
  /** Set if there is no percent: without the annotation or even with it, and in any case or only without drivers. */
  readonly unknown?: {
    readonly reason: 'NoCapacity' | 'AmbiguousUplink';
    readonly evenWithAnnotation?: true;
    readonly onlyWithoutDrivers?: true;
  };
  /** Where the names come from. */
  readonly source?: string;
}

/** Load of a 10 Gbit/s uplink in all layouts, Gbit/s. */
export const LOAD = 9.5;

type Facts = Partial<Omit<LayoutDevice, 'name' | 'driver'>>;

/** UP, BROADCAST, MULTICAST. */
const ETHERNET = 0x1003;
/** UP, POINTOPOINT, NOARP, MULTICAST. */
const TUNNEL = 0x1091;
/** UP, BROADCAST, NOARP. */
const DUMMY = 0x83;
const SLAVE = ETHERNET | 0x800;
const MASTER = ETHERNET | 0x400;

/** A NIC of 10 Gbit/s that is 95 % full. */
export function nic(name: string, driver = 'ixgbe', facts: Facts = {}): LayoutDevice {
  return { name, driver, speed: 10, load: LOAD, flags: ETHERNET, ...facts };
}

/** A NIC in a bond or below Azure's synthetic device. */
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

/** A tunnel that carries all traffic of the node. The NIC sends it again. */
export function tunnel(name: string, driver = 'tun'): LayoutDevice {
  return { name, driver, speed: driver === 'tun' ? 10 : undefined, load: LOAD, flags: TUNNEL };
}

/** A tunnel that carries Ethernet, such as VXLAN. */
export function overlay(name: string, driver = 'vxlan'): LayoutDevice {
  return nic(name, driver);
}

/** A NIC without ARP, or a modem. */
export function withoutArp(name: string, driver: string): LayoutDevice {
  return nic(name, driver, { flags: ETHERNET | 0x80 });
}

export function dummy(name: string): LayoutDevice {
  return { name, driver: 'dummy', load: 0, flags: DUMMY };
}

/**
 * The host ends of pod interfaces. The link is an index in the pod's namespace. The speed is 10 Gbit/s, which the
 * kernel reports for every veth.
 */
export function pods(names: readonly string[], driver = 'veth'): LayoutDevice[] {
  return names.map((name) => nic(name, driver, { load: LOAD / names.length, on: 2 }));
}
