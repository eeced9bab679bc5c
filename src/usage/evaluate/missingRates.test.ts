import { describe, expect, it } from 'vitest';
import type { Direction, Measure } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

/** Full, 10 Gbit/s. Its rates are missing. */
const FULL: Device = { name: 'eth0', total: '5', speed: '1250000000' };
/** Idle, 10 Gbit/s. */
const IDLE: Device = { name: 'eth1', rate: '1000000', received: '1000000', total: '7', speed: '1250000000' };
const MEASURES: readonly Measure[] = ['Sum', 'Fullest'];
const SENT = 'transmit';
const GOT = 'receive';
const OFF = { flags: String(0x1002) };
const { speed: _, ...NO_SPEED } = FULL;

const lacking = (metric: string): string =>
  `${metric === GOT ? 'no receive rate: ' : ''}fewer than two samples in the rate window for eth0: new, or not scraped recently; ` +
  `if this lasts longer than the rate window, look at node_network_${metric}_bytes_total of eth0 in Prometheus, or exclude it: spec.devices`;

describe('a device that counts and lacks a rate, next to an idle one', () => {
  it.each<{ why: string; full?: Device; idle?: Device; direction?: Direction; capacity?: string; metric?: string }>([
    { why: 'the same speed' },
    { why: '1 % of the speed of the other', full: { ...FULL, speed: '12500000' } },
    { why: 'a speed, and the other has none', idle: { ...NO_SPEED, name: 'eth1', rate: '0' } },
    { why: 'no speed', full: NO_SPEED },
    { why: 'no link', full: { ...FULL, speed: '-125000' } },
    { why: 'a speed, although it is switched off', full: { ...FULL, ...OFF } },
    { why: 'nothing received', full: { ...FULL, rate: '0' }, direction: 'Receive', metric: GOT },
    { why: 'nothing received', full: { ...FULL, rate: '0' }, direction: 'Max', metric: GOT },
    { why: 'nothing received', full: { ...FULL, rate: '0' }, direction: 'Sum', metric: GOT },
    { why: 'nothing sent', full: { ...FULL, received: '0' }, direction: 'Max' },
    { why: 'a capacity that is stated', capacity: '20Gbit' },
  ])('leaves no figure: $why, $direction', (row) => {
    const { full = FULL, idle = IDLE, direction = 'Transmit', capacity, metric = SENT } = row;
    for (const measure of MEASURES) {
      const usage = usageOf([full, idle], capacity, { direction, measure });
      expect(usage).toMatchObject({ reason: 'StaleSamples', devices: [], message: lacking(metric) });
      expect(usage).not.toHaveProperty('percent');
    }
  });

  it.each<{ why: string; device: Device }>([
    { why: 'its speed is below 1 % of the speed of the other', device: { ...FULL, speed: '12499999' } },
    { why: 'it is switched off', device: { ...NO_SPEED, ...OFF } },
    { why: 'it is switched off, and its speed is -1', device: { ...FULL, ...OFF, speed: '-125000' } },
    { why: 'it is a slave of a bond', device: { ...FULL, flags: String(0x1803) } },
    { why: 'its name is excluded', device: { ...FULL, name: 'cni0' } },
  ])('does not matter: $why', ({ device }) => {
    for (const measure of MEASURES) {
      const usage = usageOf([device, IDLE], undefined, { direction: 'Transmit', measure });
      expect(usage).toMatchObject({ reason: 'Measured', percent: 0.08, devices: ['eth1'] });
    }
  });

  it('is the one that may hide most in the message: without a speed, or the fastest', () => {
    const slow = { ...FULL, name: 'eth2', speed: '125000000' };
    const unknown = { ...NO_SPEED, name: 'eth3' };
    expect(usageOf([slow, FULL, IDLE]).message).toContain('window for eth0:');
    expect(usageOf([FULL, slow, unknown, IDLE]).message).toContain('window for eth3:');
  });
});
