import { bridge, dummy, LOAD, nic, overlay, pods, slave, type HostLayout, type LayoutDevice } from './layout.ts';

const TEN = { capacity: '10Gbit' };
const VETHS = ['veth0a1b2c3d', 'veth1f2e3d4c', 'veth9d8c7b6a'];

/** The uplink of a node that is a container. Its peer or parent is in the host's namespace. */
function inner(name: string, driver: string): LayoutDevice {
  return nic(name, driver, { on: 12 });
}

/** Nodes of cloud providers, and nodes that are containers. */
export const CLOUD_LAYOUTS: readonly HostLayout[] = [
  {
    ...TEN,
    name: 'AWS VPC CNI with trunk ENIs',
    why: 'ENA reports no speed. Each pod with a branch ENI has a VLAN and a veth.',
    devices: [
      nic('eth0', 'ena', { speed: undefined, load: 7.5 }),
      nic('eth1', 'ena', { speed: undefined, load: 2 }),
      nic('vlan.eth.1', '802.1Q VLAN Support', { speed: undefined, load: 2, on: 'eth1' }),
      dummy('pod-id-link0'),
      ...pods(['eni0a1b2c3d4e5', 'eni1f2e3d4c5b6', 'vlan9d8c7b6a5f4']),
    ],
    counted: ['eth0', 'eth1'],
    unknown: { reason: 'NoCapacity' },
    source: 'https://github.com/aws/amazon-vpc-cni-k8s',
  },
  {
    ...TEN,
    name: 'Azure netvsc with accelerated networking',
    why: 'The virtual function is below the synthetic device and sends the same traffic.',
    devices: [nic('eth0', 'hv_netvsc'), slave('enP1s1', 'mlx5_core'), ...pods(['azv0a1b2c3d4e5', 'azv1f2e3d4c5b6'])],
    counted: ['eth0'],
    source: 'https://learn.microsoft.com/azure/virtual-network/accelerated-networking-how-it-works',
  },
  {
    ...TEN,
    name: 'Azure netvsc, while the virtual machine moves',
    why: 'The virtual function is removed, and the synthetic device sends all traffic.',
    devices: [nic('eth0', 'hv_netvsc'), ...pods(['azv0a1b2c3d4e5', 'azv1f2e3d4c5b6'])],
    counted: ['eth0'],
    source: 'https://learn.microsoft.com/azure/virtual-network/accelerated-networking-how-it-works',
  },
  {
    ...TEN,
    name: 'virtio failover',
    why: 'The failover device repeats the standby, which its name shows, and the virtual function, which no series shows.',
    devices: [
      nic('ens3', 'net_failover'),
      nic('ens3nsby', 'virtio_net', { load: 0 }),
      nic('ens4', 'iavf'),
      ...pods(VETHS),
    ],
    counted: ['ens3', 'ens4'],
    unknown: { reason: 'AmbiguousUplink', evenWithAnnotation: true },
    source: 'https://docs.kernel.org/networking/net_failover.html',
  },
  {
    ...TEN,
    name: 'virtio failover, without the virtual function',
    why: 'While the virtual machine moves, the standby sends all traffic.',
    devices: [nic('ens3', 'net_failover'), nic('ens3nsby', 'virtio_net'), ...pods(VETHS)],
    counted: ['ens3'],
    source: 'https://docs.kernel.org/networking/net_failover.html',
  },
  {
    ...TEN,
    name: 'GKE',
    why: 'virtio reports no speed.',
    devices: [nic('eth0', 'virtio_net', { speed: undefined }), ...pods(['gke0a1b2c3d4e5', 'gke1f2e3d4c5b6'])],
    counted: ['eth0'],
    unknown: { reason: 'NoCapacity' },
  },
  {
    ...TEN,
    name: 'kind',
    why: 'The node is a container. Its uplink is a veth, like the interfaces of its pods.',
    devices: [inner('eth0', 'veth'), ...pods(VETHS)],
    counted: ['eth0'],
    source: 'https://kind.sigs.k8s.io/docs/design/initial/',
  },
  {
    ...TEN,
    name: 'kind with arbitrary names of pod interfaces',
    why: 'Only the name identifies the uplink among the veths.',
    devices: [inner('eth0', 'veth'), ...pods(['pod-web', 'pod-db'])],
    counted: ['eth0'],
  },
  {
    ...TEN,
    name: 'Container with a veth named veth0',
    why: 'The queries of a pass exclude it by name.',
    devices: [inner('veth0', 'veth'), bridge('cni0')],
    counted: ['veth0'],
  },
  {
    ...TEN,
    name: 'Container with veths only, none named as an uplink',
    why: 'Any of them may be the uplink.',
    devices: [inner('vetha', 'veth'), ...pods(VETHS)],
    counted: [],
    unknown: { reason: 'AmbiguousUplink', evenWithAnnotation: true },
  },
  {
    ...TEN,
    name: 'macvlan only, named eth0',
    why: 'Its parent is not in the node’s namespace.',
    devices: [inner('eth0', 'macvlan'), overlay('flannel.1'), bridge('cni0'), ...pods(VETHS)],
    counted: ['eth0'],
    source: 'https://docs.docker.com/engine/network/drivers/macvlan/',
  },
  {
    ...TEN,
    name: 'macvlan only, named macvlan0',
    why: 'The queries of a pass exclude it by name; pods have veths in addition.',
    devices: [inner('macvlan0', 'macvlan'), bridge('cni0'), ...pods(VETHS)],
    counted: ['macvlan0'],
  },
  {
    ...TEN,
    name: 'ipvlan only',
    why: 'In mode L3 it has no ARP.',
    devices: [nic('eth0', 'ipvlan', { on: 12, flags: 0x1083, load: LOAD }), ...pods(VETHS)],
    counted: ['eth0'],
    source: 'https://docs.kernel.org/networking/ipvlan.html',
  },
];
