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

export function isPairDriver(driver: string | undefined): boolean {
  return begins(driver, PAIR_DRIVERS);
}

export function isSubDriver(driver: string | undefined): boolean {
  return begins(driver, SUB_DRIVERS);
}

function begins(driver: string | undefined, prefixes: readonly string[]): boolean {
  if (!driver) return false;
  const lower = driver.toLowerCase();
  return prefixes.some((prefix) => lower.startsWith(prefix));
}
