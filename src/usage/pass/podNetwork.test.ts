import { beforeEach, expect, it } from 'vitest';
import type { FakeDevice } from '../../prometheus/testing/fakePrometheus.ts';
import { device, PassScene } from './testing/passScene.ts';

const NODE = { addresses: ['192.0.2.1'], podCIDRs: ['10.244.1.0/24'] };
const MESSAGE =
  'instance "10.244.1.7:9100" is the address of a pod (in 10.244.1.0/24, spec.podCIDRs), so its series are of the network of that pod: run node-exporter with hostNetwork; if a collector in a pod passes on the series of the host, enable --collector.ethtool of node-exporter';

const UNLISTED =
  'instance "203.0.113.7:9100" is no address of the node (status.addresses), and eth0 is one end of a pair, as in a pod, so its series are of the network of a pod: run node-exporter with hostNetwork; if a collector in a pod passes on the series of the host, enable --collector.ethtool of node-exporter';

let scene: PassScene;

beforeEach(() => {
  scene = new PassScene();
});

/** The eth0 of a pod is one end of a pair. */
const PAIR = { ifaceId: '3', ifaceLink: '17' };

it.each<[why: string, instance: string, name: string, expected: object]>([
  ['the address of the node', '192.0.2.1:9100', 'eth0', { reason: 'Measured', percent: 5 }],
  [
    'an address that the Node does not list',
    '203.0.113.7:9100',
    'eth0',
    { reason: 'NoHostNetwork', devices: [], message: UNLISTED },
  ],
  ['the name of the node: no address is known', 'a', 'eth0', { reason: 'Measured', percent: 5 }],
  ['the address of a pod', '10.244.1.7:9100', 'eth0', { reason: 'NoHostNetwork', devices: [], message: MESSAGE }],
  ['the address of a pod, and its uplink is found as a veth', '10.244.1.7:9100', 'veth17', { reason: 'NoHostNetwork' }],
])('series of the node with an instance that is %s: %s', async (_why, instance, name, expected) => {
  scene.prometheus.devices = [device('a', name, { instance, ...PAIR })];
  const { nodes } = await scene.next({ a: NODE });
  expect(nodes.get('a')).toMatchObject(expected);
  if (!('percent' in expected)) expect(nodes.get('a')).not.toHaveProperty('percent');
});

/** A NIC of the host, as /sys of the host shows it in a pod. */
const HOST = { ifaceId: '2', ifaceLink: '2' };

it.each<[why: string, devices: FakeDevice[], expected: object]>([
  [
    'NICs by their drivers: a collector in a pod passes them on',
    [nic('eth0', 'virtio_net'), nic('bond0', 'bonding')],
    { percent: 5 },
  ],
  ['with /sys of the host: its eth0 has the speed and the link of a NIC', [nic('eth0')], { message: MESSAGE }],
  ['with /sys of the host, and the driver of the pod', [nic('eth0', 'veth')], { message: MESSAGE }],
  ['a NIC by its driver next to a device without one', [nic('eth0', 'ice'), nic('eth1')], { message: MESSAGE }],
  ['with /sys of the host, whose NIC has another name', [nic('eth0'), missing('ens5')], { message: MESSAGE }],
])('series with the address of a pod: %s', async (_why, devices, expected) => {
  scene.prometheus.devices = devices;
  const reason = 'percent' in expected ? 'Measured' : 'NoHostNetwork';
  const usage = (await scene.next({ a: NODE })).nodes.get('a');
  expect(usage).toMatchObject({ reason, ...expected });
  if (reason !== 'Measured') expect(usage).not.toHaveProperty('percent');
});

it.each<[why: string, devices: FakeDevice[]]>([
  ['a second NIC, or behind NAT: eth0 is on no other device', [{ ...nic('eth0'), ...HOST }]],
  ['a NIC next to the ends of pairs', [nic('eth0', 'ice'), { ...nic('veth1'), ...PAIR }]],
])('an address that the Node does not list is of %s', async (_why, devices) => {
  scene.prometheus.devices = devices.map((each) => ({ ...each, instance: '203.0.113.7:9100' }));
  expect((await scene.next({ a: NODE })).nodes.get('a')).toMatchObject({ reason: 'Measured', percent: 5 });
});

function nic(name: string, driver?: string): FakeDevice {
  return device('a', name, { instance: '10.244.1.7:9100', ...HOST, ...(driver && { driver }) });
}

function missing(name: string): FakeDevice {
  return { ...nic(name), rate: undefined, total: undefined };
}
