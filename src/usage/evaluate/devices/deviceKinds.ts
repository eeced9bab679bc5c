import type { DeviceFacts } from '../../series/deviceFacts.ts';

/**
 * Names of devices that repeat the traffic of other devices or carry none of the node's traffic. The syntax is valid in
 * RE2 and in JavaScript. It must match the whole name. docs/devices.md lists the names that each network plug-in gives.
 */
export const DEFAULT_EXCLUDED_DEVICES = [
  // Container runtimes and network plug-ins.
  'veth.*|cni.*|docker.*|podman.*|br-.*|cali.*|cilium.*|lxc.*|flannel.*|kube-.*|nodelocaldns.*|weave.*|antrea.*',
  // Pod interfaces: Calico eBPF, Antrea (<pod>-<6 hex>), Kube-OVN (<hex>_h), OVN-Kubernetes (15 hex), AWS branch ENI.
  'bpfin[.]cali|bpfout[.]cali|.+-[0-9a-f]{6}|[0-9a-f]{5,12}(?:_[0-9a-z]+)?_[hc]|mirror0|[0-9a-f]{15}|vlan[0-9a-f]{11}|pod-id-link.*',
  // Bridges on a NIC: Linux, kubenet, Proxmox, LXD, Incus.
  'br[0-9]+|bridge[0-9]+|cbr[0-9]+|vmbr.*|fwbr.*|fwpr.*|fwln.*|lxdbr.*|incusbr.*',
  'virbr.*|vnet.*|dummy.*|ifb.*|nlmon.*|ovs.*|ovn.*|genev.*|tun.*|tap.*|vxlan.*|macvlan.*|macvtap.*|ipvlan.*',
  // Virtual private networks.
  'wg.*|wireguard.*|tailscale.*|zt[0-9a-z]{8,}|nebula.*|netmaker.*|wt[0-9]+|ipsec.*|xfrm.*',
  'sit[0-9]+|gre[0-9]+|gretap.*|erspan.*|ip6gre.*|ip6tnl.*|ip_vti.*|ip6_vti.*|teql[0-9]+',
  // Pod interfaces of cloud providers: AWS, Azure, GKE.
  'eni.*|azv.*|gke.*',
].join('|');

/** Usual name of a VLAN. A VLAN repeats the traffic and speed of its parent. Valid in RE2 and in JavaScript. */
export const VLAN_NAME = '.+\\.[0-9]+';
/** Usual name of a veth. Valid in RE2 and in JavaScript. */
export const VETH_NAME = 'veth.+';
/** Usual name of a macvlan, macvtap or ipvlan. Valid in RE2 and in JavaScript. */
export const MACVLAN_NAME = '(?:macvlan|macvtap|ipvlan).*';

/**
 * Name prefixes, in lower case, of drivers whose devices repeat the traffic of a physical device or carry none of it.
 */
export const VIRTUAL_DRIVERS = [
  ...['802.1q', 'macvlan', 'ipvlan', 'bridge', 'vxlan', 'tun', 'dummy', 'openvswitch', 'geneve', 'wireguard'],
  ...['ipip', 'sit', 'gretap', 'erspan', 'ip6', 'vti', 'xfrm', 'ifb', 'vrf', 'nlmon', 'macsec', 'ovpn', 'bareudp'],
  ...['batman', 'dsa', 'mlx5e_rep'],
];
/** Drivers of device pairs whose other end is in another network namespace: pod interfaces, uplinks of containers. */
const PAIR_DRIVERS = ['veth', 'netkit'];

/** Drivers of devices that can be the uplink of a node that is a container: the parent is in the host's namespace. */
const SUB_DRIVERS = ['macvlan', 'ipvlan'];
/** Drivers of SR-IOV virtual functions, and for each the drivers of its physical function. */
const FUNCTION_DRIVERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['iavf', ['ice', 'i40e', 'idpf']],
  ['i40evf', ['i40e']],
  ['ixgbevf', ['ixgbe']],
  ['igbvf', ['igb']],
]);

const MACVLAN = new RegExp(`^${MACVLAN_NAME}$`);
const TEAM_NAME = /^(?:team[0-9]*|nm-team)$/;
/** systemd's names: ib0, ibp65s0, ibs3. */
const INFINIBAND_NAME = /^ib(?:[0-9]|[ps][0-9]|P[0-9]).*$/;
/**
 * systemd's name of a virtual function: the name of the physical function, "v" and a number. With "_" in place of "v"
 * it is the representor of a virtual function.
 */
const FUNCTION_NAME = /^(.+)[v_][0-9]+$/;
/** Names that the kernel, systemd and container runtimes give to a node's uplink. */
const UPLINK_NAME = /^(?:(?:eth|net|host|ww|wwan)[0-9]+|(?:en|ww)[opsxP][0-9a-zA-Z]+)$/;

/** IFF_POINTOPOINT and IFF_NOARP of linux/if.h: a tunnel has at least one of them, physical Ethernet none. */
const TUNNEL_FLAGS = 0x10 | 0x80;
/** IFF_SLAVE: the device belongs to a bond (or to Azure's netvsc), which repeats its traffic. */
const IFF_SLAVE = 0x800;

/** IFF_MASTER: the device is a bond. */
const IFF_MASTER = 0x400;

/** True for a bond: by the driver, or, if the driver is unknown, by the flags. */
export function isBond({ driver, flags }: DeviceFacts): boolean {
  if (driver) return driver === 'bonding';
  return flags !== undefined && (flags & IFF_MASTER) !== 0;
}

export function isSlave({ flags }: DeviceFacts): boolean {
  return flags !== undefined && (flags & IFF_SLAVE) !== 0;
}

/**
 * Decides by the driver, or, if the driver is unknown, by the flags of tunnels. macvlan and ipvlan are virtual, too.
 */
export function isVirtual(name: string, { driver, flags }: DeviceFacts): boolean {
  if (driver) return begins(driver, VIRTUAL_DRIVERS);
  return flags !== undefined && (flags & TUNNEL_FLAGS) !== 0 && !UPLINK_NAME.test(name);
}

/**
 * True for a veth or netkit driver. If the driver is unknown: true if iface_link is not the device's own index, which
 * means that the device is on top of another one.
 */
export function isPairOrChild({ driver, ifaceId, ifaceLink }: DeviceFacts): boolean {
  if (driver) return begins(driver, PAIR_DRIVERS);
  return ifaceLink !== undefined && ifaceLink !== ifaceId;
}

export function isMacvlan(name: string, { driver }: DeviceFacts): boolean {
  return driver ? begins(driver, SUB_DRIVERS) : MACVLAN.test(name);
}

export function isTeam(name: string, { driver }: DeviceFacts): boolean {
  return driver ? driver === 'team' : TEAM_NAME.test(name);
}

/** The driver is "ib_ipoib", or the driver of the adapter with "[ib_ipoib]" after it. */
export function isInfiniBand(name: string, { driver }: DeviceFacts): boolean {
  return driver ? driver.includes('ib_ipoib') : INFINIBAND_NAME.test(name);
}

export function isUplinkName(name: string): boolean {
  return UPLINK_NAME.test(name);
}

/** True if the device is a virtual function and its physical function is on the same node. */
export function isFunction(name: string, { driver }: DeviceFacts, devices: ReadonlyMap<string, DeviceFacts>): boolean {
  const [, parent] = FUNCTION_NAME.exec(name) ?? [];
  if (parent !== undefined && devices.has(parent)) return true;
  const parents = FUNCTION_DRIVERS.get(driver ?? '');
  return parents !== undefined && [...devices.values()].some((other) => parents.includes(other.driver ?? ''));
}

function begins(driver: string, prefixes: readonly string[]): boolean {
  const lower = driver.toLowerCase();
  return prefixes.some((prefix) => lower.startsWith(prefix));
}
