import { describe, expect, it } from 'vitest';
import { annotated, type StatedCapacity } from '../../nodes/statedCapacity.ts';
import type { Direction, Measure } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

/** 10 Gbit/s, 10 % used. */
const ETH0: Device = { name: 'eth0', rate: '125000000', received: '125000000', total: '5', speed: '1250000000' };
const BOND = { name: 'bond0', flags: String(0x1443) };
/** Above 125 % of the speed by one byte per second, and 125 %. */
const TOO_FAST = '1562500001';
const FASTEST = '1562500000';
const TWICE = '2500000000';
const DIRECTIONS: readonly Direction[] = ['Transmit', 'Receive', 'Max', 'Sum'];
const MEASURES: readonly Measure[] = ['Sum', 'Fullest'];
const LABEL: StatedCapacity = { source: 'Label', key: 'example.com/mbits', text: '40000' };
const SPEC: StatedCapacity = { source: 'Spec', key: 'spec.capacity[0].value', text: '40Gbit' };
const REMEDY =
  ': its counter jumped, or the speed is wrong; if this lasts longer than the rate window, set the capacity annotation ' +
  'of the node, or spec.capacity, or exclude DEVICE: spec.devices';

interface Case {
  readonly why: string;
  readonly change: Partial<Device>;
  readonly capacity?: string | StatedCapacity;
  /** Default: all. */
  readonly directions?: readonly Direction[];
}

describe('a rate that cannot be', () => {
  it.each<Case & { message: string }>([
    {
      why: 'the counter stepped back: 2,285,743 %',
      change: { rate: '28571787500000' },
      directions: ['Transmit', 'Max', 'Sum'],
      message: 'rate of eth0 is above 125 % of its speed of 10Gbit/s',
    },
    {
      why: 'the counter jumped less far: it is just above 125 % of the speed',
      change: { rate: TOO_FAST },
      directions: ['Transmit', 'Max', 'Sum'],
      message: 'rate of eth0 is above 125 % of its speed of 10Gbit/s',
    },
    {
      why: 'the counter of the bytes received stepped back',
      change: { received: '28571787500000' },
      directions: ['Receive', 'Max', 'Sum'],
      message: 'receive rate of eth0 is above 125 % of its speed of 10Gbit/s',
    },
    {
      why: 'a bond has the speed of its active slaves',
      change: { ...BOND, rate: '2500000001' },
      directions: ['Transmit', 'Max', 'Sum'],
      message: 'rate of bond0 is above 200 % of its speed of 10Gbit/s',
    },
    {
      why: 'the stated capacity is lower than the speed: the speed is compared',
      change: { rate: TOO_FAST },
      capacity: '1Gbit',
      directions: ['Transmit'],
      message: 'rate of eth0 is above 125 % of its speed of 10Gbit/s',
    },
    ...[annotated('40Gbit'), LABEL, SPEC].map((capacity) => ({
      why: `the stated capacity is higher than the speed, and is compared: ${capacity.source}`,
      change: { rate: '6250000001' },
      capacity,
      directions: ['Transmit', 'Max'] as const,
      message: 'rate of eth0 is above 125 % of the stated capacity of 40Gbit/s',
    })),
    {
      why: 'no link is so fast, whatever the stated capacity is: the speed is known',
      change: { rate: '28500000000000' },
      capacity: '999Tbit',
      directions: ['Transmit', 'Max', 'Sum'],
      message: 'rate of eth0 is above 25.6Tbit/s, and no link is faster',
    },
    {
      why: 'no link is so fast, whatever the stated capacity is: the speed is unknown',
      change: { rate: '3200000000001', speed: '-125000' },
      capacity: '1Gbit',
      directions: ['Transmit'],
      message: 'rate of eth0 is above 25.6Tbit/s, and no link is faster',
    },
    {
      why: 'the speed is SPEED_UNKNOWN, with a stated capacity',
      change: { rate: '58875000000000', speed: '5.36870911875e+14' },
      capacity: '1Gbit',
      directions: ['Transmit'],
      message: 'rate of eth0 is above 25.6Tbit/s, and no link is faster',
    },
    {
      why: 'nothing states the capacity either',
      change: { rate: '58875000000000', speed: 'NaN' },
      directions: ['Transmit'],
      message: 'rate of eth0 is above 25.6Tbit/s, and no link is faster',
    },
  ])('is an InvalidSample: $why', ({ change, capacity, directions = DIRECTIONS, message }) => {
    const device = { ...ETH0, ...change };
    for (const direction of directions) {
      for (const measure of MEASURES) {
        const usage = usageOf([device, { ...ETH0, name: 'eth9' }], capacity, { direction, measure });
        expect(usage).toMatchObject({ reason: 'InvalidSample', devices: [], transmitBytesTotal: 10 });
        expect(usage).not.toHaveProperty('percent');
        expect(usage).not.toHaveProperty('bytesPerSecond');
        expect(usage.message).toBe(`the ${message}` + REMEDY.replace('DEVICE', device.name));
      }
    }
  });

  it.each<Case & { percent: number }>([
    {
      why: 'twice the speed: a bond in mode broadcast',
      change: { ...BOND, rate: TWICE, received: TWICE },
      percent: 200,
    },
    {
      why: 'a full link whose scrapes are late',
      change: { rate: FASTEST, received: FASTEST },
      percent: 125,
    },
    {
      why: 'as much in each direction: they are not added up',
      change: { rate: FASTEST, received: FASTEST },
      directions: ['Sum'],
      percent: 250,
    },
    { why: 'what is received does not count', change: { received: TOO_FAST }, directions: ['Transmit'], percent: 10 },
    { why: 'what is sent does not count', change: { rate: TOO_FAST }, directions: ['Receive'], percent: 10 },
    {
      why: 'the stated capacity is lower than the link: much more than 100 % of it is possible',
      change: { rate: FASTEST },
      capacity: '1Gbit',
      directions: ['Transmit'],
      percent: 1250,
    },
    {
      why: 'the stated capacity is higher than the speed, which is nominal: a veth',
      change: { rate: '5000000000' },
      capacity: '40Gbit',
      directions: ['Transmit'],
      percent: 100,
    },
    {
      why: 'the speed is unknown, and the stated capacity low',
      change: { rate: '3200000000000', speed: '-125000' },
      capacity: '12.8Tbit',
      directions: ['Transmit'],
      percent: 200,
    },
  ])('is possible: $why', ({ change, capacity, directions = DIRECTIONS.slice(0, 3), percent }) => {
    for (const direction of directions) {
      for (const measure of MEASURES) {
        const usage = usageOf([{ ...ETH0, ...change }], capacity, { direction, measure });
        expect(usage).toMatchObject({ reason: 'Measured', percent });
      }
    }
  });

  it.each<{ why: string; device: Partial<Device> }>([
    { why: 'an excluded name', device: { name: 'cni0' } },
    { why: 'a VLAN', device: { name: 'eth0.7' } },
  ])('is not looked at of a device that does not count: $why', ({ device }) => {
    const jumped = { ...ETH0, rate: '28571787500000', ...device };
    expect(usageOf([ETH0, jumped])).toMatchObject({ reason: 'Measured', percent: 10, devices: ['eth0'] });
  });

  it('is not an InvalidSample as long as the stated capacity cannot be parsed', () => {
    expect(usageOf([{ ...ETH0, rate: TOO_FAST }], 'lots')).toMatchObject({ reason: 'InvalidCapacity' });
  });
});
