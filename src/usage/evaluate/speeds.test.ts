import { describe, expect, it } from 'vitest';
import { FASTEST, isUsable } from './speeds.ts';
import type { Direction, Measure } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

const NETLINK_UNKNOWN = '5.36870911875e+14';
const OLD_UNKNOWN = '8.191875e+09';
const ETH0: Device = { name: 'eth0', rate: '125000000', received: '125000000', total: '5', speed: '1250000000' };

describe('a speed', () => {
  it.each<{ why: string; speed: number | undefined; usable: boolean }>([
    { why: '10 Mbit/s is the slowest Ethernet', speed: 1.25e6, usable: true },
    { why: '1.6 Tbit/s is the fastest Ethernet', speed: 2e11, usable: true },
    { why: 'a bond of 16 such slaves is at the bound', speed: 3.2e12, usable: true },
    { why: 'nothing is faster than that', speed: 3.2e12 + 125_000, usable: false },
    { why: 'a bond reported 471 Tbit/s', speed: 471e12 / 8, usable: false },
    { why: 'the kernel reports -1 as an unsigned number of 32 bits', speed: 4_294_967_295 * 125_000, usable: false },
    { why: 'an old driver reports -1 as an unsigned number of 16 bits', speed: 65_535 * 125_000, usable: false },
    {
      why: 'next to that number there may be a speed, such as the speed of a virtual function',
      speed: 65_534 * 125_000,
      usable: true,
    },
    { why: 'a NIC that is down reports -1', speed: -125_000, usable: false },
    { why: 'some virtual devices report 0', speed: 0, usable: false },
    { why: 'a sample may not be a number', speed: NaN, usable: false },
    { why: 'a sample may be infinite', speed: Infinity, usable: false },
    { why: 'there may be no sample', speed: undefined, usable: false },
  ])('is usable, $usable: $why', ({ speed, usable }) => {
    expect(isUsable(speed)).toBe(usable);
  });

  it('is at most 25.6 Tbit/s', () => {
    expect(FASTEST).toBe(25.6e12 / 8);
  });
});

describe('a device whose speed cannot be', () => {
  const speeds = [NETLINK_UNKNOWN, OLD_UNKNOWN];
  const directions: readonly Direction[] = ['Transmit', 'Receive', 'Max', 'Sum'];
  const ways = speeds.flatMap((speed) => directions.map((direction) => ({ speed, direction })));

  it.each(ways)('has an unknown capacity: speed $speed, direction $direction', ({ speed, direction }) => {
    for (const measure of ['Sum', 'Fullest'] satisfies Measure[]) {
      const usage = usageOf([{ ...ETH0, speed }], undefined, { direction, measure });
      expect(usage).toMatchObject({ reason: 'NoCapacity', devices: [] });
      expect(usage).not.toHaveProperty('percent');
      expect(usage.message).toContain(`eth0: speed ${Number(speed)}`);
    }
  });

  it.each(speeds)('adds nothing to the capacity of other devices: speed %s', (speed) => {
    const idle = { name: 'eth1', rate: '0', total: '1', speed };
    expect(usageOf([ETH0, idle])).toMatchObject({ percent: 10, devices: ['eth0'], capacityBytesPerSecond: 1.25e9 });
  });

  it.each(speeds)('is a bond without a speed if it is a bond: speed %s', (speed) => {
    const bond = { ...ETH0, name: 'bond0', speed, flags: String(0x1443) };
    expect(usageOf([bond, { ...ETH0, name: 'eth9' }])).toMatchObject({ reason: 'NoCapacity' });
  });

  it.each(speeds)('is measured by a stated capacity: speed %s', (speed) => {
    expect(usageOf([{ ...ETH0, speed }], '10Gbit')).toMatchObject({ percent: 10, capacitySource: 'Annotation' });
  });
});
