import type { DeviceFacts } from '../../series/nodeSamples.ts';
import { isUsable } from '../speeds.ts';

/**
 * Names of devices that repeat the traffic of other devices or carry none of the node's traffic. The syntax is valid in
 * RE2 and in JavaScript. It must match the whole name. docs/devices.md lists the names that each network plug-in gives.
 */
export const DEFAULT_EXCLUDED_DEVICES = [
  // Container runtimes and network plug-ins.
  'veth.*|cni.*|docker.*|podman.*|nerdctl.*|br-[0-9a-f]{12}|cali.*|cilium.*|lxc.*|flannel.*|kube-.*|nodelocaldns.*|weave.*|antrea.*',
  // Pod interfaces: Calico eBPF, Antrea (<pod>-<6 hex>), Kube-OVN (<hex>_h), OVN-Kubernetes (15 hex, <hex>_<port>), AWS branch ENI.
  'bpfin[.]cali|bpfout[.]cali|.+-[0-9a-f]{6}|[0-9a-f]{5,12}(?:_[0-9a-z]+)?_[hc]|[0-9a-f]{10,13}_[0-9]{1,4}|mirror0|[0-9a-f]{15}|vlan[0-9a-f]{11}|pod-id-link.*',
  // Devices on a NIC: bridges of Linux, minikube, kubenet, Harvester, Open vSwitch, OpenStack, Xen, Proxmox, LXD, Incus and Azure CNI; OpenSDN.
  'br[0-9]+|.*bridge[0-9]*|cbr[0-9]+|.+-br|br-int|br-ex|br-tun|br-local|brq.*|qbr.*|xenbr.*',
  'vmbr.*|fwbr.*|fwpr.*|fwln.*|lxdbr.*|incusbr.*|azure[0-9]+|vhost[0-9]+',
  'virbr.*|vnet.*|dummy.*|ifb.*|nlmon.*|ovs.*|ovn.*|genev.*|tun.*|tap.*|vxlan.*|macvlan.*|macvtap.*|ipvlan.*',
  // Virtual private networks.
  'wg.*|wireguard.*|vx-submariner|tailscale.*|zt[0-9a-z]{8,}|nebula.*|netmaker.*|wt[0-9]+|ipsec.*|xfrm.*',
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
  '(?:en|wl|ww)(?:[opsP][0-9][0-9a-zA-Z]*|x[0-9a-f]+|c[0-9a-f]+|[dvX][0-9]+|a[a-zA-Z0-9]+i[0-9]+)',
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
 * True if the facts, without the counter, show a NIC or a bond that may be switched on. It may still be a slave or a virtual function. Where a second
 * series is missing, it counts as switched on, and as on no other device: the node could have 0 % otherwise.
 *
 * | fact                                 | shows                          |
 * |--------------------------------------|--------------------------------|
 * | flags without IFF_UP                 | it is switched off             |
 * | driver of a NIC, or name of hardware | a NIC                          |
 * | name eth0, and no other iface_link than its own | a NIC: it is on no other device |
 */
export function isActiveNic(name: string, facts: DeviceFacts): boolean {
  const { driver, flags, ifaceId, ifaceLink } = facts;
  if (!isOn(flags)) return false;
  if (isPhysicalDriver(driver) || isHardwareName(name) || isBond(name, facts)) return true;
  return isUplinkName(name) && (ifaceLink === undefined || ifaceId === undefined || ifaceLink === ifaceId);
}

/** True if only hardware has such a name. */
export function isHardwareName(name: string): boolean {
  return HARDWARE_NAME.test(name);
}

export function isUplinkName(name: string): boolean {
  return UPLINK_NAME.test(name);
}

/**
 * Name prefixes, in lower case, of drivers whose devices repeat the traffic of a physical device or carry none of it. A
 * device whose driver reports no name has the kind of its link, as `ip -d link` shows it. Source: get_drvinfo of each
 * driver, and net/ethtool/ioctl.c of Linux.
 */
export const VIRTUAL_DRIVERS = [
  ...['802.1q', 'macvlan', 'ipvlan', 'bridge', 'vxlan', 'tun', 'dummy', 'openvswitch', 'geneve', 'wireguard'],
  ...['ipip', 'sit', 'gre', 'ip_gre', 'erspan', 'ip6', 'vti', 'xfrm', 'ppp', 'gtp', 'pfcp', 'amt', 'l2tp'],
  ...['ifb', 'vrf', 'nlmon', 'macsec', 'ovpn', 'bareudp', 'b.a.t.m.a.n', 'batadv', 'hsr', 'dsa', 'mlx5e_rep'],
];
/** Drivers of device pairs whose other end is in another network namespace: pod interfaces, uplinks of containers. */
const PAIR_DRIVERS = ['veth', 'netkit'];
/** Drivers of devices that can be the uplink of a node that is a container: the parent is in the host's namespace. */
const SUB_DRIVERS = ['macvlan', 'ipvlan'];

/**
 * Drivers of NICs, and of devices that stand for NICs, as ethtool names them. Only with one of these do flags and links
 * not matter: a NIC may have no ARP (HiperSockets, modems). Any other driver may belong to a tunnel. Source: the drivers
 * of servers, clouds and boards in drivers/net of Linux.
 */
const PHYSICAL_DRIVERS: ReadonlySet<string> = new Set([
  // Devices that stand for NICs.
  ...['bonding', 'team', 'net_failover'],
  // Virtual machines and clouds.
  ...['virtio_net', 'vmxnet3', 'hv_netvsc', 'mana', 'ena', 'gve', 'vif', 'xen_netfront', 'ibmveth', 'ibmvnic'],
  // Intel.
  ...['e100', 'e1000', 'e1000e', 'igb', 'igbvf', 'igc', 'ixgb', 'ixgbe', 'ixgbevf', 'i40e', 'i40evf', 'iavf', 'ice'],
  ...['idpf', 'fm10k'],
  // NVIDIA, Broadcom, Marvell, Chelsio, AMD, Cisco, Emulex, Huawei, Netronome, Microsoft and others.
  ...['mlx4_en', 'mlx5_core', 'mlxbf_gige', 'bnx2', 'bnx2x', 'bnxt_en', 'tg3', 'b44', 'bcmgenet', 'bgmac'],
  ...['qede', 'qlcnic', 'qlge', 'netxen_nic', 'myri10ge', 'cxgb3', 'cxgb4', 'cxgb4vf', 'sfc', 'sfc_siena', 'ionic'],
  ...[
    'enic',
    'be2net',
    'hinic',
    'hinic3',
    'hns3',
    'hns',
    'nfp',
    'fbnic',
    'funeth',
    'octeon_ep',
    'rvu_nicpf',
    'rvu_nicvf',
  ],
  ...[
    'nicvf',
    'thunder-nicvf',
    'liquidio',
    'liquidio_vf',
    'atlantic',
    'xgene_enet',
    'amd-xgbe',
    'txgbe',
    'ngbe',
    'bna',
  ],
  // Boards, desktops and USB.
  ...['r8168', 'r8125', 'r8126', 'r8169', '8139too', '8139cp', 'r8152', 'alx', 'atl1c', 'atl1e', 'sky2', 'skge', 'jme'],
  ...['forcedeth', 'via-rhine', 'via-velocity', 'pcnet32', 'ne2k-pci', 'tulip', 'ax88179_178a', 'asix', 'lan78xx'],
  ...[
    'smsc95xx',
    'smsc911x',
    'lan743x',
    'cdc_ether',
    'cdc_eem',
    'rndis_host',
    'cdc_ncm',
    'aqc111',
    'st_gmac',
    'macb',
    'fec',
    'greth',
    'mvneta',
  ],
  ...['mvpp2', 'mv643xx_eth', 'gianfar', 'fsl_dpaa_eth', 'fsl_dpaa2_eth', 'fsl_enetc', 'mtk_soc_eth', 'sunxi-emac'],
  ...['ti-cpsw', 'am65-cpsw-nuss', 'ravb', 'sh_eth', 'xilinx_axienet', 'sni_ave', 'netsec', 'ftgmac100'],
  // IBM Z and POWER.
  ...['qeth_l2', 'qeth_l3', 'lcs', 'ctcm', 'netiucv', 'ehea'],
  // Wi-Fi and modems.
  ...['iwlwifi', 'ath9k', 'ath10k_pci', 'ath11k_pci', 'ath12k_pci', 'brcmfmac', 'mt7921e', 'rtw88_pci', 'rtw89_pci'],
  ...['qmi_wwan', 'cdc_mbim', 'mhi_net', 'iosm'],
]);

/** Drivers of SR-IOV virtual functions, and for each the drivers of its physical function. */
export const FUNCTION_DRIVERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['iavf', ['ice', 'i40e', 'idpf']],
  ['i40evf', ['i40e']],
  ['ixgbevf', ['ixgbe']],
  ['igbvf', ['igb']],
  ['cxgb4vf', ['cxgb4']],
  ['rvu_nicvf', ['rvu_nicpf']],
  ['liquidio_vf', ['liquidio']],
]);

export function isPhysicalDriver(driver: string | undefined): boolean {
  return driver !== undefined && PHYSICAL_DRIVERS.has(driver);
}

export function isVirtualDriver(driver: string | undefined): boolean {
  return !isPhysicalDriver(driver) && begins(driver, VIRTUAL_DRIVERS);
}

function isPairDriver(driver: string | undefined): boolean {
  return begins(driver, PAIR_DRIVERS);
}

function isSubDriver(driver: string | undefined): boolean {
  return begins(driver, SUB_DRIVERS);
}

function begins(driver: string | undefined, prefixes: readonly string[]): boolean {
  if (!driver) return false;
  const lower = driver.toLowerCase();
  return prefixes.some((prefix) => lower.startsWith(prefix));
}
