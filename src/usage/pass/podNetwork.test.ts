import { beforeEach, expect, it } from 'vitest';
import { device, PassScene } from './testing/passScene.ts';

const NODE = { addresses: ['192.0.2.1'], podCIDRs: ['10.244.1.0/24'] };
const MESSAGE =
  'instance "10.244.1.7:9100" is the address of a pod (in 10.244.1.0/24, spec.podCIDRs), so its series are of the network of that pod: run node-exporter with hostNetwork';

let scene: PassScene;

beforeEach(() => {
  scene = new PassScene();
});

/** The eth0 of a pod is one end of a pair. */
const PAIR = { ifaceId: '3', ifaceLink: '17' };

it.each<[why: string, instance: string, name: string, expected: object]>([
  ['the address of the node', '192.0.2.1:9100', 'eth0', { reason: 'Measured', percent: 5 }],
  ['an address that the Node does not list', '203.0.113.7:9100', 'eth0', { reason: 'Measured', percent: 5 }],
  ['the name of the node: no address is known', 'a', 'eth0', { reason: 'Measured', percent: 5 }],
  ['the address of a pod', '10.244.1.7:9100', 'eth0', { reason: 'NoHostNetwork', devices: [], message: MESSAGE }],
  ['the address of a pod, and its uplink is found as a veth', '10.244.1.7:9100', 'veth17', { reason: 'NoHostNetwork' }],
])('series of the node with an instance that is %s: %s', async (_why, instance, name, expected) => {
  scene.prometheus.devices = [device('a', name, { instance, ...PAIR })];
  const { nodes } = await scene.next({ a: NODE });
  expect(nodes.get('a')).toMatchObject(expected);
  if (!('percent' in expected)) expect(nodes.get('a')).not.toHaveProperty('percent');
});

it('series of a NIC are those of the node, although a collector in a pod passes them on', async () => {
  scene.prometheus.devices = [device('a', 'eth0', { instance: '10.244.1.7:8889', ifaceId: '2', ifaceLink: '2' })];
  expect((await scene.next({ a: NODE })).nodes.get('a')).toMatchObject({ reason: 'Measured', percent: 5 });
});
