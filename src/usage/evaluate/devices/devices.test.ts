import { describe, expect, it } from 'vitest';
import { chooseDevices, DEFAULT_EXCLUDED_DEVICES, wholeName } from './devices.ts';
import type { DeviceFacts } from '../../series/nodeSamples.ts';

const EXCLUDE = wholeName(DEFAULT_EXCLUDED_DEVICES);
const SLAVE = 0x1803;
const MASTER = 0x1443;

/** A physical device as node_exporter shows it, at index `ifaceId`. */
function nic(ifaceId: number, facts: DeviceFacts = {}): DeviceFacts {
  return { total: 1e9, speed: 1.25e9, flags: 0x1003, ifaceId, ifaceLink: ifaceId, ...facts };
}

function choose(devices: Record<string, DeviceFacts>, exclude = EXCLUDE) {
  return chooseDevices(new Map(Object.entries(devices)), exclude);
}

describe('which devices count by name', () => {
  it.each([
    ...['lo', 'veth1a2b3c4d', 'cni0', 'docker0', 'br-9f3a1c', 'cali123', 'cilium_host', 'cilium_vxlan', 'lxc_health'],
    ...['flannel.1', 'kube-ipvs0', 'kube-bridge', 'virbr0', 'dummy0', 'ovs-system', 'wg0', 'tun0', 'tunl0', 'tap7'],
    ...['bridge', 'mgmt-br', 'brq1a2b3c4d-5e', 'xenbr0', 'nerdctl0', 'br-1a2b3c4d5e6f', 'br-int', 'br-mgmt'],
    ...['vxlan.calico', 'eth0.100', 'bond0.4094', 'eni1a2b', 'azv9c', 'gke12', 'ifb0', 'sit0', 'gre0', 'ip6tnl0'],
    ...['vx-submariner', 'vhost0', 'azure0', '0a1b2c3d4e_1', '0a1b2c3d4e5f6_4094'],
  ])('%s does not count', (name) => {
    expect(choose({ eth0: nic(2), [name]: nic(3) }).counted).toEqual(['eth0']);
  });

  it.each([
    ...['eth0', 'ens5', 'enp3s0f1', 'eno1', 'em1', 'p1p1', 'ib0', 'wlan0', 'bond0', 'team0', 'enP1s2', 'enx00e04c'],
    ...['green0', 'sith', 'vlan', 'slow1', 'eth0.a', 'logical0', 'vhost', 'azure', 'vx-lan', '0a1b2c3d4_1'],
  ])('%s counts', (name) => {
    expect(choose({ [name]: nic(2) }).counted).toEqual([name]);
  });

  it('matches a pattern that replaces the default against the whole name', () => {
    const chosen = choose({ eth0: nic(2), eth01: nic(3), cali1: nic(4) }, wholeName('eth0|nothing'));
    expect(chosen.counted).toEqual(['cali1', 'eth01']);
  });

  it('never counts lo or a VLAN, whatever the pattern', () => {
    expect(choose({ lo: nic(1), eth0: nic(2), 'eth0.5': nic(3) }, wholeName('x')).counted).toEqual(['eth0']);
  });

  it('leaves out a device without a byte counter, even if it has a speed', () => {
    expect(choose({ eth0: nic(2), eth1: { speed: 1e9 } }).excluded).toEqual(new Map([['eth1', 'Absent']]));
  });
});

describe('bonds', () => {
  it('counts a bond and not its slaves, which would count the traffic twice', () => {
    const chosen = choose({
      bond0: nic(4, { flags: MASTER }),
      eth0: nic(2, { flags: SLAVE }),
      eth1: nic(3, { flags: SLAVE }),
    });
    expect(chosen.counted).toEqual(['bond0']);
    expect(chosen.excluded.get('eth0')).toBe('Slave');
  });

  it("counts Azure's synthetic device and not the virtual function below it", () => {
    const synthetic = nic(2, { driver: 'hv_netvsc' });
    expect(choose({ eth0: synthetic, enP1s1: nic(3, { flags: SLAVE, driver: 'mlx5_core' }) }).counted).toEqual([
      'eth0',
    ]);
  });
});

describe('drivers', () => {
  it.each(['802.1Q VLAN Support', 'macvlan', 'ipvlan', 'bridge', 'vxlan', 'tun'])(
    'leaves out a device with driver %s next to a physical one',
    (driver) => {
      expect(choose({ eth0: nic(2, { driver: 'e1000e' }), storage: nic(3, { driver }) }).excluded).toEqual(
        new Map([['storage', 'Driver']]),
      );
    },
  );

  it.each(['veth', 'macvlan', 'bonding', 'team', 'virtio_net', 'ena', 'vmxnet3', 'iavf'])(
    'counts the only device, with driver %s',
    (driver) => {
      expect(choose({ eth0: nic(2, { driver }) }).counted).toEqual(['eth0']);
    },
  );
});

describe('drivers and flags of tunnels', () => {
  it.each([
    ...['gre', 'ip_gre', 'gretap', 'ip6gre', 'ip6tnl', 'sit', 'ipip', 'vti6', 'erspan', 'xfrm', 'ppp', 'gtp', 'pfcp'],
    ...['amt', 'l2tpeth', 'ovpn', 'B.A.T.M.A.N. advanced', 'batadv', 'hsr', 'slip', 'vcan', 'some_vpn', undefined],
  ])('leaves out a tunnel with driver %s', (driver) => {
    expect(choose({ eth0: nic(2, { driver: 'ixgbe' }), mesh: nic(3, { driver, flags: 0x1091 }) }).counted).toEqual([
      'eth0',
    ]);
  });

  it.each([
    ['lan1', 'qeth_l3'],
    ['uplink', 'qmi_wwan'],
    ['enc600', undefined],
    ['encf500', undefined],
    ['enahisic2i0', undefined],
    ['hsi0', undefined],
    ['slcf5f0', undefined],
    ['iucv0', undefined],
    ['enX0', 'some_nic'],
  ])('counts a NIC without ARP: %s, driver %s', (name, driver) => {
    expect(choose({ [name]: nic(2, { driver, flags: 0x1083 }) }).counted).toEqual([name]);
  });
});

describe('SR-IOV', () => {
  it.each([
    ...[
      ['ens1f0np0', 'ens1f0v4'],
      ['ens1f0np0', 'ens1f0np0v4'],
      ['enp3s0f0', 'enp3s0f0v3'],
      ['enP2p1s0f0np0', 'enP2p1s0f0v12'],
      ['enp3s0d1', 'enp3s0d1v0'],
    ],
    ...[
      ['eth0', 'eth0v1'],
      ['eth2', 'eth2_vf0'],
      ['ens1f0np0', 'ens1f0r4'],
      ['ens1f0np0', 'ens1f0np0r4'],
      ['enp3s0f0', 'enp3s0f0_0'],
      ['ens1f0np0', 'ens1f0npf0vf4'],
      ['enp6s0f0np0', 'enp6s0f0s88'],
    ],
    ...[
      ['p0', 'pf0hpf'],
      ['p0', 'pf0vf1'],
      ['p1', 'en3f1pf1sf0'],
      ['p0', 'enp3s0f0s0'],
    ],
  ])('counts the physical function %s and not its function %s', (physical = '', other = '') => {
    expect(choose({ [physical]: nic(2), [other]: nic(3) })).toMatchObject({
      counted: [physical],
      excluded: new Map([[other, 'Function']]),
    });
  });

  it.each([
    ['ens1f0np0', 'ens1f1np1'],
    ['ens1f0np0', 'ens1f1v4'],
    ['enp3s0', 'enp3s0d1'],
    ['en1', 'env2'],
    ['enp3s0', 'enp3s1'],
    ['ens1', 'pf0hpf'],
  ])('counts %s and %s: none is a function of the other', (one, other) => {
    expect(choose({ [one]: nic(2), [other]: nic(3) }).counted).toEqual([one, other]);
  });
});

describe('a bridge that OVN-Kubernetes names after its NIC', () => {
  it('does not count next to the NIC', () => {
    expect(choose({ eno1: nic(2), breno1: nic(3) }).counted).toEqual(['eno1']);
  });

  it('does not count next to the veth that is the uplink of a container', () => {
    expect(choose({ eth0: nic(2, { ifaceLink: 9 }), breth0: nic(3) }).counted).toEqual(['eth0']);
  });

  it('counts if it is a NIC, or there is no such NIC', () => {
    expect(choose({ eno1: nic(2), breno1: nic(3, { driver: 'ixgbe' }), breno2: nic(4) }).counted).toEqual([
      'breno1',
      'breno2',
      'eno1',
    ]);
  });
});

describe('children without a known driver', () => {
  it('leaves out a VLAN or macvlan with an arbitrary name: it repeats its parent', () => {
    const chosen = choose({ eth0: nic(2), storage: nic(5, { ifaceLink: 2 }) });
    expect(chosen.counted).toEqual(['eth0']);
    expect(chosen.excluded.get('storage')).toBe('Child');
  });

  it('leaves out a VLAN on a bond', () => {
    const devices = { bond0: nic(4), eth0: nic(2, { flags: SLAVE }), storage: nic(5, { ifaceLink: 4 }) };
    expect(choose(devices).counted).toEqual(['bond0']);
  });

  it("counts a container's eth0, whose link is an index in another namespace", () => {
    expect(choose({ eth0: nic(2, { ifaceLink: 17 }) }).counted).toEqual(['eth0']);
  });

  it('counts it even if a pod interface has that index by chance', () => {
    expect(choose({ eth0: nic(2, { ifaceLink: 17 }), cali1: nic(17) }).counted).toEqual(['eth0']);
  });

  it("counts two uplinks of a container, even if each link is the other's index by chance", () => {
    expect(choose({ eth0: nic(2, { ifaceLink: 3 }), eth1: nic(3, { ifaceLink: 2 }) }).counted).toEqual([
      'eth0',
      'eth1',
    ]);
  });

  it.each([
    ['by its driver', { ifaceLink: 3, driver: 'veth' }],
    ['by its link, to another namespace', { ifaceLink: 17, driver: undefined }],
  ])('does not count a veth, identified %s, next to a physical device', (_how, facts) => {
    const devices = { pod1: nic(2, facts), eth1: nic(3, { driver: facts.driver && 'e1000e' }) };
    expect(choose(devices).counted).toEqual(['eth1']);
  });

  it('trusts a physical driver more than a link', () => {
    expect(choose({ eth0: nic(2), lan1: nic(3, { ifaceLink: 2, driver: 'e1000e' }) }).counted).toEqual([
      'eth0',
      'lan1',
    ]);
  });

  it.each([
    [0x1091, 'a point-to-point tunnel, such as WireGuard or tun'],
    [0x10c3, 'a device without ARP, such as dummy or ifb'],
  ])('leaves out a device with flags %i: %s', (flags) => {
    expect(choose({ eth0: nic(2), mesh: nic(3, { flags }) }).excluded).toEqual(new Map([['mesh', 'Tunnel']]));
  });
});

describe('the only uplink of a node', () => {
  it('counts even if it has the name of a veth', () => {
    expect(choose({ lo: nic(1), veth0: nic(2, { ifaceLink: 9 }), cni0: nic(3) })).toEqual({
      counted: ['veth0'],
      excluded: new Map([
        ['lo', 'Loopback'],
        ['cni0', 'Name'],
      ]),
      ambiguousUplinks: [],
    });
  });

  it('is ambiguous if there are several veths', () => {
    const chosen = choose({ vethb: nic(2), vetha: nic(3) });
    expect(chosen.counted).toEqual([]);
    expect(chosen.ambiguousUplinks).toEqual(['vetha', 'vethb']);
  });

  it('is not searched if another device counts', () => {
    expect(choose({ eth0: nic(2), vetha: nic(3) }).counted).toEqual(['eth0']);
  });

  it('is a macvlan rather than a veth, whatever its name', () => {
    expect(choose({ veth1: nic(2), macvlan0: nic(3) }).counted).toEqual(['macvlan0']);
    const drivers = { pod1: nic(2, { ifaceLink: 7, driver: 'veth' }), up: nic(3, { ifaceLink: 2, driver: 'macvlan' }) };
    expect(choose(drivers).counted).toEqual(['up']);
  });

  it('is the device with the name of an uplink among veths with arbitrary names', () => {
    const devices = { eth0: nic(2, { ifaceLink: 17 }), pod1: nic(3, { ifaceLink: 2 }), pod2: nic(4, { ifaceLink: 2 }) };
    expect(choose(devices).counted).toEqual(['eth0']);
  });

  it('is not a macvlan on top of such a device', () => {
    const eth0 = nic(2, { ifaceLink: 17, driver: 'veth' });
    expect(choose({ eth0, eth1: nic(3, { ifaceLink: 2, driver: 'macvlan' }) }).counted).toEqual(['eth0']);
  });

  it('is a team without visible ports, or an InfiniBand device without Ethernet', () => {
    expect(choose({ team0: nic(2), ib0: nic(3) }).counted).toEqual(['team0']);
    expect(choose({ ib0: nic(3) }).counted).toEqual(['ib0']);
  });

  it('is never a veth without a byte counter, and never lo', () => {
    expect(choose({ lo: nic(1), vetha: { speed: 1 } }).counted).toEqual([]);
  });
});
