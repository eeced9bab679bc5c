import { describe, expect, it } from 'vitest';
import type { Direction, Measure } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

/** Full, and without a speed: 9.5 Gbit/s sent. */
const FULL: Device = { name: 'eth0', rate: '1187500000', received: '0', total: '5' };
/** Idle, 10 Gbit/s. */
const IDLE: Device = { name: 'eth1', rate: '1000000', received: '1000000', total: '7', speed: '1250000000' };
const MEASURES: readonly Measure[] = ['Sum', 'Fullest'];

describe('a device with traffic and no usable speed, next to devices with a speed', () => {
  it.each<{ why: string; change: Partial<Device>; direction?: Direction; message: string }>([
    { why: 'virtio reports no speed', change: {}, message: 'eth0: no speed, with traffic' },
    { why: 'the speed is -1', change: { speed: '-125000' }, message: 'eth0: speed -125000, with traffic' },
    { why: 'the speed is 0', change: { speed: '0' }, message: 'eth0: speed 0, with traffic' },
    { why: 'the speed is not a number', change: { speed: 'NaN' }, message: 'eth0: speed NaN, with traffic' },
    {
      why: 'the speed is SPEED_UNKNOWN in 32 bits',
      change: { speed: '5.36870911875e+14' },
      message: 'eth0: speed 536870911875000, with traffic',
    },
    { why: 'its rate is 10 Mbit/s', change: { rate: '1250000' }, message: 'eth0: no speed, with traffic' },
    {
      why: 'it receives, and that counts',
      change: { rate: '0', received: '1250000' },
      direction: 'Receive',
      message: 'eth0: no speed, with traffic',
    },
    {
      why: 'it receives more than it sends',
      change: { rate: '0', received: '1250000' },
      direction: 'Max',
      message: 'eth0: no speed, with traffic',
    },
    {
      why: 'both directions together are 10 Mbit/s',
      change: { rate: '625000', received: '625000' },
      direction: 'Sum',
      message: 'eth0: no speed, with traffic',
    },
  ])('makes the node Unknown: $why', ({ change, direction = 'Transmit', message }) => {
    for (const measure of MEASURES) {
      const usage = usageOf([{ ...FULL, ...change }, IDLE], undefined, { direction, measure });
      expect(usage).toMatchObject({ reason: 'NoCapacity', devices: [], transmitBytesTotal: 12 });
      expect(usage).not.toHaveProperty('percent');
      expect(usage.message).toBe(
        `the capacity is unknown (${message}); set the capacity annotation of the node, or spec.capacity, ` +
          'or exclude eth0: spec.devices',
      );
    }
  });

  it.each<{ why: string; change: Partial<Device>; direction?: Direction }>([
    { why: 'it is idle', change: { rate: '0' } },
    { why: 'the USB NIC of a BMC sends a few packets a minute', change: { rate: '200', received: '200' } },
    { why: 'its rate is just below 10 Mbit/s', change: { rate: '1249999' } },
    { why: 'it only sends, and what is received counts', change: {}, direction: 'Receive' },
    { why: 'each direction is below 10 Mbit/s', change: { rate: '625000', received: '625000' }, direction: 'Max' },
    { why: 'its name is excluded', change: { name: 'cni0' } },
  ])('is not measured, and the others are: $why', ({ change, direction = 'Transmit' }) => {
    for (const measure of MEASURES) {
      const usage = usageOf([{ ...FULL, ...change }, IDLE], undefined, { direction, measure });
      expect(usage).toMatchObject({ reason: 'Measured', devices: ['eth1'], capacityBytesPerSecond: 1.25e9 });
    }
  });

  it.each<{ rate: string; speeds: number[]; reason: string; why: string }>([
    { rate: '125000', speeds: [12.5e6], reason: 'NoCapacity', why: '1 % of 100 Mbit/s' },
    { rate: '124999', speeds: [12.5e6], reason: 'Measured', why: 'less than 1 % of it' },
    { rate: '125000', speeds: [12.5e6, 12.5e6], reason: 'Measured', why: 'less than 1 % of both' },
    { rate: '250000', speeds: [12.5e6, 12.5e6], reason: 'NoCapacity', why: '1 % of both' },
    { rate: '118750000', speeds: [12.5e9], reason: 'NoCapacity', why: '1 Gbit/s, full, next to 100 Gbit/s' },
  ])('is compared with the speeds of all measured devices together: $why', ({ rate, speeds, reason }) => {
    const others = speeds.map((speed, n) => ({ ...IDLE, name: `eth${n + 1}`, rate: '0', speed: String(speed) }));
    expect(usageOf([{ ...FULL, rate }, ...others])).toMatchObject({ reason });
  });

  it('is the one with the highest rate in the message, whatever their order', () => {
    const busier = { ...FULL, name: 'eth2', rate: '1250000000' };
    for (const devices of [
      [FULL, IDLE, busier],
      [busier, IDLE, FULL],
    ])
      expect(usageOf(devices).message).toContain('(eth2: no speed, with traffic)');
  });

  it('also counts with one of two rates, where the second rate is missing', () => {
    const { received: _, ...sent } = FULL;
    expect(usageOf([sent, IDLE], undefined, { direction: 'Max' })).toMatchObject({ reason: 'NoCapacity' });
  });

  it('is measured by a stated capacity', () => {
    for (const measure of MEASURES) {
      const usage = usageOf([FULL, IDLE], '10Gbit', { direction: 'Transmit', measure });
      expect(usage).toMatchObject({ reason: 'Measured', devices: ['eth0', 'eth1'], capacitySource: 'Annotation' });
      expect(usage.percent).toBeCloseTo(95.08, 2);
    }
  });
});
