import { beforeEach, expect, it } from 'vitest';
import type { FakeDevice } from '../../prometheus/testing/fakePrometheus.ts';
import { device, PassScene } from './testing/passScene.ts';

const NODE = { addresses: ['192.0.2.1'], podCIDRs: ['10.244.1.0/24'] };
const MESSAGE =
  'instance "10.244.1.7:9100" is the address of a pod (in 10.244.1.0/24, spec.podCIDRs), so its series are of the network of that pod: run node-exporter with hostNetwork; if the series are of the host, as from a collector in a pod or from another address of the node, enable --collector.ethtool of node-exporter';

const UNLISTED =
  'instance "203.0.113.7:9100" is no address of the node (status.addresses), so its series may be of the network of a pod: run node-exporter with hostNetwork; if the series are of the host, as from a collector in a pod or from another address of the node, enable --collector.ethtool of node-exporter';

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

it.each<[why: string, devices: FakeDevice[], expected: object]>([
  ['of a second NIC, or behind NAT, with drivers', [nic('eth0', 'ice')], { reason: 'Measured', percent: 5 }],
  [
    'of a pod with /sys of the host: its eth0 has the speed and the link of a NIC',
    [nic('eth0')],
    { message: UNLISTED },
  ],
  ['of a pod, whose driver is of a pod', [nic('eth0', 'veth')], { message: UNLISTED }],
])('an address that the Node does not list is %s', async (_why, devices, expected) => {
  scene.prometheus.devices = devices.map((each) => ({ ...each, instance: '203.0.113.7:9100' }));
  expect((await scene.next({ a: NODE })).nodes.get('a')).toMatchObject({ reason: 'NoHostNetwork', ...expected });
});

const mixedUp = (instance: string, whose: string): string =>
  `the label node of its series is this node, and their instance "${instance}" is of ${whose}: correct the relabelling, so that both labels are of the node with the exporter`;

it.each([
  ['192.0.2.2:9100', 'node b'],
  ['b:9100', 'node b'],
  ['192.0.2.9', 'other nodes'],
])('series of a node are not measured if their instance %s is of %s', async (instance, whose) => {
  scene.prometheus.devices = [device('a', 'eth0', { instance, driver: 'ice' })];
  const others = { b: { addresses: ['192.0.2.2', '192.0.2.9'] }, c: { addresses: ['192.0.2.9'] } };
  const { nodes } = await scene.next({ a: NODE, ...others });
  expect(nodes.get('a')).toMatchObject({ reason: 'AmbiguousSeries', devices: [], message: mixedUp(instance, whose) });
  expect(nodes.get('a')).not.toHaveProperty('percent');
});

it('series of a node are measured if their instance is its own name in another case, which another node has, too', async () => {
  scene.prometheus.devices = [device('a', 'eth0', { instance: 'HOST:9100' })];
  const { nodes } = await scene.next({ a: { addresses: ['host'] }, b: { addresses: ['host'] } });
  expect(nodes.get('a')).toMatchObject({ reason: 'Measured', percent: 5 });
});

function nic(name: string, driver?: string): FakeDevice {
  return device('a', name, { instance: '10.244.1.7:9100', ...HOST, ...(driver && { driver }) });
}

function missing(name: string): FakeDevice {
  return { ...nic(name), rate: undefined, total: undefined };
}
