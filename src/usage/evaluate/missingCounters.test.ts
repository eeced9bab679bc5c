import { describe, expect, it } from 'vitest';
import type { Reading } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

const UP = { flags: String(0x1003), ifaceId: '2', ifaceLink: '2' };
/** 10 Gbit/s, without a counter. */
const NIC: Device = { name: 'eth0', speed: '1250000000', ...UP };
/** 10 Gbit/s, 10 % used. */
const OTHER: Device = { name: 'eth1', rate: '125000000', received: '125000000', total: '7', speed: '1250000000' };
const SLOW: Device = { ...NIC, speed: '12499999' };
const { speed: _speed, ...NO_SPEED } = NIC;
const TRANSMIT: Reading = { direction: 'Transmit' };

const noCounter = (name: string): string =>
  `${name} is a NIC that is up, and Prometheus has no node_network_transmit_bytes_total of it: a part of the answer is missing, or node-exporter ` +
  'runs without hostNetwork, or leaves it out (--collector.netdev.device-exclude); if it must not count, exclude it: --device-exclude ' +
  '(chart: deviceExclude), or spec.devices';

describe('a NIC without a counter', () => {
  it.each<{ why: string; nic?: Device; capacity?: string }>([
    { why: 'the same speed' },
    { why: 'the same speed, with a stated capacity', capacity: '20Gbit' },
    { why: '1 % of the speed of the other', nic: { ...NIC, speed: '12500000' } },
    { why: 'less than 1 %, with a stated capacity', nic: SLOW, capacity: '10Gbit' },
    { why: 'no speed', nic: NO_SPEED },
    { why: 'speed -1, as virtio reports it', nic: { ...NIC, speed: '-125000' } },
    { why: 'a rate', nic: { ...NIC, rate: '0' } },
    { why: 'the name of hardware, and no link', nic: { ...NIC, name: 'eno1', ifaceLink: undefined } },
    { why: 'the name of hardware, and no flags, but a speed', nic: { ...NIC, name: 'eno1', flags: undefined } },
    { why: 'the name of an uplink, and no link', nic: { ...NIC, ifaceLink: undefined } },
    { why: 'the name of an uplink, and no index', nic: { ...NIC, ifaceId: undefined } },
    { why: 'the driver of a NIC, and neither flags nor a speed', nic: { name: 'lan', driver: 'ice' } },
    { why: 'the name of hardware, and neither flags nor a speed', nic: { name: 'eno1', ifaceId: '2' } },
    { why: 'the driver of a NIC', nic: { ...NIC, name: 'lan', driver: 'ice' } },
    { why: 'the flags of a bond', nic: { ...NIC, name: 'up', flags: String(0x1443) } },
  ])('leaves no figure: $why', ({ nic = NIC, capacity }) => {
    for (const direction of ['Transmit', 'Receive', 'Max', 'Sum'] as const) {
      const usage = usageOf([nic, OTHER], capacity, { direction });
      expect(usage).toMatchObject({ reason: 'StaleSamples', devices: [], message: noCounter(nic.name) });
      expect(usage).not.toHaveProperty('percent');
    }
  });

  it('is named if it is the only device, or the only one that the reading selects', () => {
    expect(usageOf([NIC])).toMatchObject({ reason: 'StaleSamples', message: noCounter('eth0') });
    const include = { ...TRANSMIT, include: 'eth0' };
    expect(usageOf([NIC, OTHER], undefined, include)).toMatchObject({ reason: 'StaleSamples' });
  });

  it('does not let the interface of a pod count as the uplink', () => {
    const pod = { ...OTHER, name: 'pod-web', ifaceLink: '9' };
    expect(usageOf([pod, NIC])).toMatchObject({ reason: 'StaleSamples', message: noCounter('eth0') });
  });

  it.each<{ why: string; nic: Device; reading?: Reading }>([
    { why: 'its speed is below 1 % of the speed of the other', nic: SLOW },
    { why: 'it is switched off', nic: { ...NIC, flags: String(0x1002) } },
    { why: 'it is a slave', nic: { ...NIC, name: 'enP1s1', flags: String(0x1803) } },
    { why: 'it is a virtual function', nic: { ...NIC, name: 'eth1v0', driver: 'mlx5_core' } },
    { why: 'it is the interface of a pod', nic: { ...NIC, ifaceLink: '9' } },
    { why: 'nothing shows a NIC', nic: { ...NIC, name: 'mesh' } },
    { why: 'it is InfiniBand next to Ethernet', nic: { ...NIC, name: 'ib0', driver: 'ib_ipoib' } },
    { why: 'its name is excluded', nic: { ...NIC, name: 'cali1', driver: 'ice' } },
    { why: 'the reading excludes it', nic: NIC, reading: { ...TRANSMIT, exclude: 'eth0' } },
    { why: 'the reading includes others only', nic: NIC, reading: { ...TRANSMIT, include: 'eth1' } },
  ])('does not matter: $why', ({ nic, reading }) => {
    expect(usageOf([nic, OTHER], undefined, reading)).toMatchObject({ reason: 'Measured', percent: 10 });
  });
});

describe('a device of which only a rate is known', () => {
  const RATE: Device = { name: 'eth0', rate: '1250000', received: '0' };

  it.each<{ why: string; device: Device; reading?: Reading; capacity?: string }>([
    { why: '10 Mbit/s', device: RATE },
    { why: '1 % of a stated capacity', device: { ...RATE, rate: '125000' }, capacity: '100Mbit' },
    { why: 'received', device: { ...RATE, rate: '0', received: '1250000' }, reading: { direction: 'Max' } },
    { why: 'only received', device: { name: 'eth0', received: '1250000' }, reading: { direction: 'Max' } },
    { why: 'the name of hardware', device: { ...RATE, name: 'enp3s0f0' } },
  ])('leaves no figure: $why', ({ device, reading, capacity }) => {
    const usage = usageOf([device, OTHER], capacity, reading);
    expect(usage).toMatchObject({ reason: 'StaleSamples', devices: [] });
    expect(usage.message).toContain(`${device.name} has traffic, and Prometheus has no counter of it`);
    expect(usage).not.toHaveProperty('percent');
  });

  it.each<{ why: string; device: Device; other?: Partial<Device>; reading?: Reading }>([
    { why: 'it has hardly any traffic', device: { ...RATE, rate: '1249999' } },
    { why: 'it only sends', device: RATE, reading: { direction: 'Receive' } },
    { why: 'it has another name than an uplink: a pod that ended', device: { ...RATE, name: 'pod-web' } },
    { why: 'the reading excludes it', device: RATE, reading: { ...TRANSMIT, exclude: 'eth0' } },
    { why: 'it may be a slave of the bond', device: RATE, other: { name: 'bond0', flags: String(0x1443) } },
    { why: 'it may be below Azure’s synthetic device', device: RATE, other: { driver: 'hv_netvsc' } },
  ])('does not matter: $why', ({ device, other, reading }) => {
    expect(usageOf([device, { ...OTHER, ...other }], undefined, reading)).toMatchObject({ percent: 10 });
  });
});
