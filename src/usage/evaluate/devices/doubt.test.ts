import { describe, expect, it } from 'vitest';
import { usageOf, type Device } from '../testing/usageOf.ts';

/** A NIC at 95 %. */
const nic = (name: string, facts: Partial<Device> = {}): Device => {
  return { name, rate: '95', total: '7', speed: '100', ...facts };
};
const NO_FLAGS = { flags: undefined };
const NO_LINK = { ifaceLink: undefined };
const NO_ID = { ifaceId: undefined };
const idle = (name: string, facts: Partial<Device> = {}): Device => nic(name, { rate: '0', ...facts });
/** Below a bond at 95 % of 200: one slave is full, the other almost. */
const SLAVES = [nic('eth0', NO_FLAGS), nic('eth1', NO_FLAGS)];

describe('a node without some series of its devices', () => {
  it.each<[why: string, devices: readonly Device[]]>([
    ['one device repeats no other one', [nic('eth0', { ...NO_FLAGS, ...NO_LINK, ...NO_ID })]],
    ['a bond whose slaves are not visible', [nic('bond0', NO_FLAGS)]],
    ['only hardware has such names, and none is a bond', [nic('eno1', NO_FLAGS), nic('enp3s0f1', NO_FLAGS)]],
    [
      'both drivers are of NICs',
      [nic('lan1', { ...NO_FLAGS, driver: 'ixgbe' }), nic('lan2', { ...NO_FLAGS, driver: 'igb' })],
    ],
    ['the others are excluded by name', [nic('eth0', NO_FLAGS), nic('veth1', NO_FLAGS), nic('cni0', NO_FLAGS)]],
    ['the link shows a pod interface', [nic('eth0', NO_FLAGS), nic('pod', { ...NO_FLAGS, ifaceLink: '9' })]],
    ['the kernel gives such names to no child', [nic('eth0', NO_LINK), nic('eth1', NO_ID)]],
    [
      'the flags show the bond and its slave',
      [nic('up', { ...NO_LINK, flags: '5187' }), nic('a', { ...NO_LINK, flags: '6147' })],
    ],
    ['eth0 is no synthetic device, by its driver', [nic('eth0', { driver: 'ixgbe' }), nic('enP1s1', NO_FLAGS)]],
    ['the driver of the bridge is known', [nic('eth0', { driver: 'openvswitch' }), nic('br-net1', { driver: 'ice' })]],
    ['a failover device with its standby', [nic('ens3', { driver: 'net_failover' }), idle('ens3nsby')]],
    ['a failover device alone, while the virtual machine moves', [nic('ens3', { driver: 'net_failover' })]],
    ['no device has this standby', [nic('ens3nsby'), nic('eth0')]],
    ['br-lan is the bridge: the NIC has a speed', [nic('eth0'), nic('br-lan')]],
    ['the bridge is down', [nic('eth0', { speed: '100' }), nic('br-lan', { speed: undefined, flags: '4098' })]],
  ])('is measured: %s', (_why, devices) => {
    expect(usageOf(devices)).toMatchObject({ reason: 'Measured', percent: 95 });
  });

  it.each<[why: string, devices: readonly Device[], series: RegExp]>([
    [
      'slaves of a bond',
      [nic('bond0', { ...NO_FLAGS, rate: '190', speed: '200' }), ...SLAVES],
      /no node_network_flags of eth0, eth1/,
    ],
    [
      'a bond by its driver',
      [idle('up', { ...NO_FLAGS, driver: 'bonding' }), nic('a', { ...NO_FLAGS, driver: 'ice' })],
      /flags of a,/,
    ],
    ['a virtual function of Azure', [nic('eth0', NO_FLAGS), nic('enP1s1', NO_FLAGS)], /flags of eth0,/],
    [
      'the same, by its driver',
      [nic('eth0', { ...NO_FLAGS, driver: 'hv_netvsc' }), nic('b', { ...NO_FLAGS, driver: 'mlx5_core' })],
      /flags of b,/,
    ],
    [
      'the same, of which only the virtual function lacks flags',
      [nic('eth0'), nic('enP1s1', NO_FLAGS)],
      /flags of enP1s1,/,
    ],
    ['a bond or a tunnel', [nic('eno1', NO_FLAGS), nic('mesh', NO_FLAGS)], /flags of mesh,/],
    ['a driver that is unknown', [nic('eno1', NO_FLAGS), nic('b', { ...NO_FLAGS, driver: 'some_vpn' })], /flags of b,/],
    [
      'a tunnel of a container',
      [nic('eth0', { ...NO_FLAGS, ifaceLink: '17' }), idle('mesh', NO_FLAGS)],
      /flags of mesh,/,
    ],
    [
      'a virtual function below a failover device',
      [nic('ens3', { driver: 'net_failover' }), nic('ens4', { driver: 'iavf' })],
      /^ens4 may be below ens3, a failover device .* exclude ens4: spec\.devices$/,
    ],
    [
      'the same, by the name of the standby',
      [nic('ens3'), idle('ens3nsby'), nic('ens4')],
      /^ens4 may be below ens3, a failover device/,
    ],
    ['a tunnel over InfiniBand', [nic('ib0', NO_FLAGS), idle('mesh', NO_FLAGS)], /flags of mesh,/],
    ['a pod interface', [nic('eth0', NO_LINK), idle('pod', NO_LINK)], /no node_network_iface_link of pod,/],
    ['a pod interface', [nic('eth0', NO_ID), idle('pod', NO_ID)], /no node_network_iface_id of pod,/],
    [
      'a bridge with the name of the NIC',
      [idle('eth0', { speed: undefined }), nic('br-net1')],
      /eth0 or br-net1 may be a bridge.*node_ethtool_info/,
    ],
    [
      'the same, and its counter is missing',
      [idle('eth0', { speed: undefined }), { name: 'br-net1', speed: '100' }],
      /eth0 or br-net1/,
    ],
    ['the same, next to a NIC', [idle('eth1', { speed: undefined }), nic('br-net1'), idle('eth0')], /eth1 or br-net1/],
  ])('is Unknown, and the message names what to keep: %s', (_why, devices, series) => {
    for (const capacity of [undefined, '800bit']) {
      expect(usageOf(devices, capacity)).toMatchObject({
        reason: 'AmbiguousUplink',
        message: expect.stringMatching(series) as string,
      });
    }
  });
});
