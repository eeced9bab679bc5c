import type { DeviceFacts } from '../series/deviceFacts.ts';

/**
 * Names of devices that carry other devices' traffic or none of the node's. RE2 as well as JavaScript syntax; matched
 * against the whole name. docs/devices.md says which network plug-in gives which names.
 */
export const DEFAULT_EXCLUDED_DEVICES = [
  // Container runtimes and network plug-ins.
  'veth.*|cni.*|docker.*|podman.*|br-.*|cali.*|cilium.*|lxc.*|flannel.*|kube-.*|nodelocaldns.*|weave.*|antrea.*',
  // Pods' interfaces: Calico eBPF, Antrea (<pod>-<6 hex>), Kube-OVN (<hex>_h), OVN-Kubernetes (15 hex), AWS branch ENI.
  'bpfin[.]cali|bpfout[.]cali|.+-[0-9a-f]{6}|[0-9a-f]{5,12}(?:_[0-9a-z]+)?_[hc]|mirror0|[0-9a-f]{15}|vlan[0-9a-f]{11}|pod-id-link.*',
  // Bridges over a NIC: Linux, kubenet, Proxmox, LXD, Incus.
  'br[0-9]+|bridge[0-9]+|cbr[0-9]+|vmbr.*|fwbr.*|fwpr.*|fwln.*|lxdbr.*|incusbr.*',
  'virbr.*|vnet.*|dummy.*|ifb.*|nlmon.*|ovs.*|ovn.*|genev.*|tun.*|tap.*|vxlan.*|macvlan.*|macvtap.*|ipvlan.*',
  // Virtual private networks.
  'wg.*|wireguard.*|tailscale.*|zt[0-9a-z]{8,}|nebula.*|netmaker.*|wt[0-9]+|ipsec.*|xfrm.*',
  'sit[0-9]+|gre[0-9]+|gretap.*|erspan.*|ip6gre.*|ip6tnl.*|ip_vti.*|ip6_vti.*|teql[0-9]+',
  // Pods' interfaces of cloud providers: AWS, Azure, GKE.
  'eni.*|azv.*|gke.*',
].join('|');

/** A VLAN by the usual name: its traffic and speed are its parent's. RE2 as well as JavaScript syntax. */
export const VLAN_NAME = '.+\\.[0-9]+';
/** A veth by the usual name. RE2 as well as JavaScript syntax. */
export const VETH_NAME = 'veth.+';
/** A macvlan, macvtap or ipvlan by the usual name. RE2 as well as JavaScript syntax. */
export const MACVLAN_NAME = '(?:macvlan|macvtap|ipvlan).*';

/** Beginnings of the drivers' names, in lower case, whose devices repeat or never carry a physical device's traffic. */
export const VIRTUAL_DRIVERS = [
  ...['802.1q', 'macvlan', 'ipvlan', 'bridge', 'vxlan', 'tun', 'dummy', 'openvswitch', 'geneve', 'wireguard'],
  ...['ipip', 'sit', 'gretap', 'erspan', 'ip6', 'vti', 'xfrm', 'ifb', 'vrf', 'nlmon', 'macsec', 'ovpn', 'bareudp'],
  ...['batman', 'dsa', 'mlx5e_rep'],
];
/** Drivers of pairs whose other end is in another network namespace: a pod's interface, or a container's uplink. */
const PAIR_DRIVERS = ['veth', 'netkit'];

/** Of them a device may be the uplink of a node that is itself a container: its parent is in the host's namespace. */
const SUB_DRIVERS = ['macvlan', 'ipvlan'];
/** Virtual functions of SR-IOV, and the drivers of the physical functions that they are part of. */
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
/** systemd's names of virtual functions, v and a number behind that of the physical one; with _, their representors. */
const FUNCTION_NAME = /^(.+)[v_][0-9]+$/;
/** As the kernel, systemd and container runtimes call a node's uplink. */
const UPLINK_NAME = /^(?:(?:eth|net|host|ww|wwan)[0-9]+|(?:en|ww)[opsxP][0-9a-zA-Z]+)$/;

/** IFF_POINTOPOINT and IFF_NOARP of linux/if.h: tunnels have them, physical devices with Ethernet have neither. */
const TUNNEL_FLAGS = 0x10 | 0x80;
/** IFF_SLAVE: the device is beneath a bond (or Azure's netvsc), which repeats its traffic. */
const IFF_SLAVE = 0x800;

export function isSlave({ flags }: DeviceFacts): boolean {
  return flags !== undefined && (flags & IFF_SLAVE) !== 0;
}

/** By the driver, or without one by the flags of tunnels. macvlan and ipvlan are virtual, too. */
export function isVirtual(name: string, { driver, flags }: DeviceFacts): boolean {
  if (driver) return begins(driver, VIRTUAL_DRIVERS);
  return flags !== undefined && (flags & TUNNEL_FLAGS) !== 0 && !UPLINK_NAME.test(name);
}

/** A veth by its driver, or, without one, anything that iface_link shows to lie on another device. */
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

/** Drivers are ib_ipoib, or that of the adapter with it in brackets. */
export function isInfiniBand(name: string, { driver }: DeviceFacts): boolean {
  return driver ? driver.includes('ib_ipoib') : INFINIBAND_NAME.test(name);
}

export function isUplinkName(name: string): boolean {
  return UPLINK_NAME.test(name);
}

/** Whether a device is a virtual function of a physical one of the same node. */
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
