import type { DeviceFacts } from '../../series/deviceFacts.ts';
import { isUsable } from '../speeds.ts';
import { isPairDriver, isPhysicalDriver, isSubDriver, isVirtualDriver } from './drivers.ts';

/**
 * Names of devices that repeat the traffic of other devices or carry none of the node's traffic. The syntax is valid in
 * RE2 and in JavaScript. It must match the whole name. docs/devices.md lists the names that each network plug-in gives.
 */
export const DEFAULT_EXCLUDED_DEVICES = [
  // Container runtimes and network plug-ins.
  'veth.*|cni.*|docker.*|podman.*|nerdctl.*|br-[0-9a-f]{12}|cali.*|cilium.*|lxc.*|flannel.*|kube-.*|nodelocaldns.*|weave.*|antrea.*',
  // Pod interfaces: Calico eBPF, Antrea (<pod>-<6 hex>), Kube-OVN (<hex>_h), OVN-Kubernetes (15 hex), AWS branch ENI.
  'bpfin[.]cali|bpfout[.]cali|.+-[0-9a-f]{6}|[0-9a-f]{5,12}(?:_[0-9a-z]+)?_[hc]|mirror0|[0-9a-f]{15}|vlan[0-9a-f]{11}|pod-id-link.*',
  // Bridges on a NIC: Linux, minikube, kubenet, Harvester, Open vSwitch, OpenStack, Xen, Proxmox, LXD, Incus.
  'br[0-9]+|.*bridge[0-9]*|cbr[0-9]+|.+-br|br-int|br-ex|br-tun|br-local|brq.*|qbr.*|xenbr.*',
  'vmbr.*|fwbr.*|fwpr.*|fwln.*|lxdbr.*|incusbr.*',
  'virbr.*|vnet.*|dummy.*|ifb.*|nlmon.*|ovs.*|ovn.*|genev.*|tun.*|tap.*|vxlan.*|macvlan.*|macvtap.*|ipvlan.*',
  // Virtual private networks.
  'wg.*|wireguard.*|tailscale.*|zt[0-9a-z]{8,}|nebula.*|netmaker.*|wt[0-9]+|ipsec.*|xfrm.*',
  'sit[0-9]+|gre[0-9]+|gretap.*|erspan.*|ip6gre.*|ip6tnl.*|ip_vti.*|ip6_vti.*|teql[0-9]+',
  // Pod interfaces of cloud providers: AWS, Azure, GKE.
  'eni.*|azv.*|gke.*',
].join('|');

/**
 * Usual name of a bridge. It is not among the excluded names, since Kube-OVN (exchangeLinkName) gives such a name to a NIC.
 * Valid in RE2 and in JavaScript.
 */
export const BRIDGE_NAME = 'br-.+';
/** Usual name of a VLAN. A VLAN repeats the traffic and speed of its parent. Valid in RE2 and in JavaScript. */
export const VLAN_NAME = '.+\\.[0-9]+';
/** Usual name of a veth. Valid in RE2 and in JavaScript. */
export const VETH_NAME = 'veth.+';
/** Usual name of a macvlan, macvtap or ipvlan. Valid in RE2 and in JavaScript. */
export const MACVLAN_NAME = '(?:macvlan|macvtap|ipvlan).*';

const BRIDGE = new RegExp(`^${BRIDGE_NAME}$`);
const MACVLAN = new RegExp(`^${MACVLAN_NAME}$`);
/** The usual name of a bond. */
const BOND_NAME = /^bond[0-9]+$/;
const TEAM_NAME = /^(?:team[0-9]*|nm-team)$/;
/** systemd's names: ib0, ibp65s0, ibs3. */
const INFINIBAND_NAME = /^ib(?:[0-9]|[ps][0-9]|P[0-9]).*$/;
/**
 * Names that systemd gives to hardware, by slot, path, bus ID (enc600 of IBM Z), MAC address and others; names of
 * biosdevname; and those that the kernel gives to devices of IBM Z. Source: systemd.net-naming-scheme(7).
 */
const HARDWARE = [
  '(?:en|wl|ww)(?:[opsP][0-9][0-9a-zA-Z]*|x[0-9a-f]+|c[0-9a-f]+|[dvX][0-9]+|a[A-Z0-9]+i[0-9]+)',
  'slc[0-9a-f]+|(?:hsi|ctc|iucv|em)[0-9]+|p[0-9]+p[0-9]+',
].join('|');
const HARDWARE_NAME = new RegExp(`^(?:${HARDWARE})$`);
/** Also the names that the kernel and container runtimes give to a node's uplink. */
const UPLINK_NAME = new RegExp(`^(?:${HARDWARE}|(?:eth|net|host|wlan|wwan)[0-9]+)$`);

/** IFF_POINTOPOINT and IFF_NOARP of linux/if.h: a tunnel has at least one of them, physical Ethernet none. */
const TUNNEL_FLAGS = 0x10 | 0x80;
/** IFF_UP: the device is switched on. */
const IFF_UP = 0x1;
/** IFF_SLAVE: the device belongs to a bond (or to Azure's netvsc), which repeats its traffic. */
const IFF_SLAVE = 0x800;

/** IFF_MASTER: the device is a bond. */
const IFF_MASTER = 0x400;

/** True for a bond: by the driver, or, if the driver is unknown, by the flags; if these are missing, too, by the name. */
export function isBond(name: string, { driver, flags }: DeviceFacts): boolean {
  if (driver) return driver === 'bonding';
  return flags === undefined ? BOND_NAME.test(name) : (flags & IFF_MASTER) !== 0;
}

export function isSlave({ flags }: DeviceFacts): boolean {
  return flags !== undefined && (flags & IFF_SLAVE) !== 0;
}

/**
 * True by the driver, or by the flags of tunnels. Flags do not matter with the driver or the name of a NIC: a NIC can be
 * without ARP. macvlan and ipvlan are also virtual.
 */
export function isVirtual(name: string, { driver, flags }: DeviceFacts): boolean {
  if (isPhysicalDriver(driver)) return false;
  if (isVirtualDriver(driver)) return true;
  return flags !== undefined && (flags & TUNNEL_FLAGS) !== 0 && !UPLINK_NAME.test(name);
}

/**
 * True for a veth or netkit driver. If the driver is unknown: true if iface_link is not the device's own index, which
 * means that the device is on top of another device.
 */
export function isPairOrChild({ driver, ifaceId, ifaceLink }: DeviceFacts): boolean {
  if (isPairDriver(driver)) return true;
  if (isPhysicalDriver(driver) || isVirtualDriver(driver) || isInfiniBandDriver(driver)) return false;
  return ifaceLink !== undefined && ifaceId !== undefined && ifaceLink !== ifaceId;
}

export function isMacvlan(name: string, { driver }: DeviceFacts): boolean {
  return driver ? isSubDriver(driver) : MACVLAN.test(name);
}

export function isTeam(name: string, { driver }: DeviceFacts): boolean {
  return driver ? driver === 'team' : TEAM_NAME.test(name);
}

export function isInfiniBand(name: string, { driver }: DeviceFacts): boolean {
  return driver ? isInfiniBandDriver(driver) : INFINIBAND_NAME.test(name);
}

/** The driver is "ib_ipoib", or the driver of the adapter with "[ib_ipoib]" after it. */
function isInfiniBandDriver(driver = ''): boolean {
  return driver.includes('ib_ipoib');
}

/** True for the usual name of a bridge, unless the driver is a NIC driver. */
export function isBridge(name: string, { driver }: DeviceFacts): boolean {
  return BRIDGE.test(name) && !isPhysicalDriver(driver);
}

/** False for a device that is down, or whose speed no link can have. A missing fact proves nothing. */
export function mayBeNic({ speed, flags }: DeviceFacts): boolean {
  return isOn(flags) && (speed === undefined || isUsable(speed));
}

export function isOn(flags: number | undefined): boolean {
  return flags === undefined || (flags & IFF_UP) !== 0;
}

/**
 * True if the facts, without the counter, show a NIC or a bond that is switched on. It may still be a slave or a virtual function.
 *
 * | fact                                 | shows                          |
 * |--------------------------------------|--------------------------------|
 * | flags with IFF_UP                    | it is switched on              |
 * | no flags, but a usable speed         | it has a link                  |
 * | driver of a NIC, or name of hardware | a NIC                          |
 * | name eth0, and its own iface_link    | a NIC: it is on no other device |
 */
export function isActiveNic(name: string, facts: DeviceFacts): boolean {
  const { driver, flags, speed, ifaceId, ifaceLink } = facts;
  if (flags === undefined ? !isUsable(speed) : !isOn(flags)) return false;
  if (isPhysicalDriver(driver) || isHardwareName(name) || isBond(name, facts)) return true;
  return isUplinkName(name) && ifaceLink !== undefined && ifaceLink === ifaceId;
}

/** True if only hardware has such a name. */
export function isHardwareName(name: string): boolean {
  return HARDWARE_NAME.test(name);
}

export function isUplinkName(name: string): boolean {
  return UPLINK_NAME.test(name);
}
