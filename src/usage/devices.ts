/** What an exporter says of one network device. Absent means that there is no such series. */
export interface DeviceFacts {
  /** node_network_transmit_bytes_total */
  total?: number | undefined;
  /** node_network_speed_bytes, bytes per second; NaN when the sample is no number. */
  speed?: number | undefined;
  /** node_network_flags: IFF_* of netdevice(7). */
  flags?: number | undefined;
  /** node_network_iface_id: the device's own index. */
  ifaceId?: number | undefined;
  /** node_network_iface_link: index of the device beneath it; its own where there is none. */
  ifaceLink?: number | undefined;
  /** Label `driver` of node_ethtool_info. */
  driver?: string | undefined;
}

/** Why a device is not measured. `Absent`: its byte counter is not there. */
export type Exclusion = 'Loopback' | 'Name' | 'Vlan' | 'Absent' | 'Slave' | 'Driver' | 'Child';

/** Which devices of a node count. */
export interface DeviceChoice {
  /** Sorted names. */
  counted: readonly string[];
  excluded: ReadonlyMap<string, Exclusion>;
  /** Nothing counts but these: veth pairs of which any may be the uplink. Empty in every other case. */
  ambiguousUplinks: readonly string[];
}

/**
 * Names of devices that carry other devices' traffic or none of the node's: those of container runtimes and CNI
 * plugins, of cloud providers' pod interfaces (eni*: AWS VPC CNI, azv*: Azure, gke*: GKE) and of the kernel's tunnels.
 * RE2 as well as JavaScript syntax; matched against the whole name.
 */
export const DEFAULT_EXCLUDED_DEVICES = [
  'veth.*|cni.*|docker.*|podman.*|br-.*|cali.*|cilium.*|lxc.*|flannel.*|kube-.*|nodelocaldns.*|weave.*|antrea.*',
  'virbr.*|vnet.*|dummy.*|ifb.*|nlmon.*|ovs.*|genev.*|wg.*|tun.*|tap.*|vxlan.*|macvlan.*|macvtap.*|ipvlan.*',
  'sit[0-9]+|gre[0-9]+|gretap.*|erspan.*|ip6gre.*|ip6tnl.*|ip_vti.*|ip6_vti.*|teql[0-9]+',
  'eni.*|azv.*|gke.*',
].join('|');

/** A VLAN by the usual name: its traffic and speed are its parent's. RE2 as well as JavaScript syntax. */
export const VLAN_NAME = '.+\\.[0-9]+';
/** A veth by the usual name. RE2 as well as JavaScript syntax. */
export const VETH_NAME = 'veth.+';
const VLAN = new RegExp(`^(?:${VLAN_NAME})$`);
const VETH = new RegExp(`^(?:${VETH_NAME})$`);

/** IFF_SLAVE of linux/if.h: the device is beneath a bond (or Azure's netvsc), which repeats its traffic. */
const IFF_SLAVE = 0x800;

/** Beginnings of the drivers' names, in lower case, whose devices repeat or never carry a physical device's traffic. */
export const VIRTUAL_DRIVERS = [
  '802.1q',
  'macvlan',
  'ipvlan',
  'bridge',
  'vxlan',
  'tun',
  'dummy',
  'openvswitch',
  'geneve',
  'wireguard',
];

/** What most nodes have, once for all of them. */
const NOTHING: ReadonlyMap<string, Exclusion> = new Map();
const NONE: readonly string[] = [];

/** Matches what a PromQL matcher with the same text matches: the whole name. Throws SyntaxError. */
export function wholeName(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

/**
 * Decides which devices of one node count. In this order, the first that holds excludes a device:
 *
 * | Exclusion | Device |
 * |-----------|--------|
 * | Loopback  | lo, whatever the pattern |
 * | Name      | its name matches `exclude` |
 * | Vlan      | named like a VLAN, eth0.100 |
 * | Absent    | no byte counter |
 * | Slave     | IFF_SLAVE: its bond counts |
 * | Driver    | ethtool names a virtual driver; veth is none, since a container's uplink is a veth |
 * | Child     | no driver known, and it lies on another device of the node that counts: VLAN, macvlan, ipvlan |
 *
 * Where nothing is left and there is exactly one veth, that is the node's uplink and counts.
 */
export function chooseDevices(devices: ReadonlyMap<string, DeviceFacts>, exclude: RegExp): DeviceChoice {
  const excluded = new Map<string, Exclusion>();
  const counted: string[] = [];
  for (const [name, facts] of devices) {
    const why = exclusionOf(name, facts, exclude);
    if (why === undefined) counted.push(name);
    else excluded.set(name, why);
  }
  const roots = dropChildren(counted, devices, excluded);
  if (roots.length === 0) return onlyUplink(devices, excluded);
  return { counted: roots.sort(), excluded: excluded.size === 0 ? NOTHING : excluded, ambiguousUplinks: NONE };
}

function exclusionOf(name: string, facts: DeviceFacts, exclude: RegExp): Exclusion | undefined {
  if (name === 'lo') return 'Loopback';
  if (exclude.test(name)) return 'Name';
  if (VLAN.test(name)) return 'Vlan';
  if (facts.total === undefined) return 'Absent';
  if (isSlave(facts)) return 'Slave';
  return hasVirtualDriver(facts) ? 'Driver' : undefined;
}

function isSlave(facts: DeviceFacts): boolean {
  return facts.flags !== undefined && (facts.flags & IFF_SLAVE) !== 0;
}

function hasVirtualDriver(facts: DeviceFacts): boolean {
  const driver = facts.driver?.toLowerCase();
  return driver !== undefined && VIRTUAL_DRIVERS.some((prefix) => driver.startsWith(prefix));
}

/**
 * Takes out children of devices that count. iface_link of a veth is its peer's index in another namespace and may by
 * chance be that of a device here: only a parent that lies on nothing itself makes a child, and a veth with a known
 * driver is none.
 */
function dropChildren(
  names: readonly string[],
  devices: ReadonlyMap<string, DeviceFacts>,
  excluded: Map<string, Exclusion>,
): string[] {
  const parents = new Set<number>();
  for (const name of names) {
    const facts = devices.get(name);
    if (facts?.ifaceId !== undefined && facts.ifaceId === facts.ifaceLink) parents.add(facts.ifaceId);
  }
  return names.filter((name) => {
    const { driver, ifaceId, ifaceLink } = devices.get(name) ?? {};
    const child = !driver && ifaceLink !== undefined && ifaceLink !== ifaceId && parents.has(ifaceLink);
    if (child) excluded.set(name, 'Child');
    return !child;
  });
}

function onlyUplink(devices: ReadonlyMap<string, DeviceFacts>, excluded: Map<string, Exclusion>): DeviceChoice {
  const uplinks = [...devices]
    .filter(([name, facts]) => VETH.test(name) && facts.total !== undefined)
    .map(([name]) => name);
  const [uplink, ...others] = uplinks.sort();
  if (uplink === undefined) return { counted: [], excluded, ambiguousUplinks: [] };
  if (others.length > 0) return { counted: [], excluded, ambiguousUplinks: uplinks };
  excluded.delete(uplink);
  return { counted: [uplink], excluded, ambiguousUplinks: [] };
}
