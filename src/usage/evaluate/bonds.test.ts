import { describe, expect, it } from 'vitest';
import type { Direction, Measure } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

const MASTER = String(0x1443);
const BOND: Device = { name: 'bond0', rate: '50', received: '20', total: '7', speed: '200', flags: MASTER };
const NIC: Device = { name: 'eth2', rate: '1', received: '1', total: '7', speed: '100', flags: String(0x1003) };
const DOWN = '-125000';

const by = (devices: readonly Device[], measure: Measure = 'Sum', direction: Direction = 'Transmit') =>
  usageOf(devices, undefined, { direction, measure });

describe('the source of a capacity from the series', () => {
  it.each<[why: string, devices: readonly Device[], measure: Measure, source: string, percent: number]>([
    ['a bond has the speed of its active slaves', [BOND], 'Sum', 'ActiveSlaves', 25],
    ['a NIC is no bond', [NIC], 'Sum', 'Series', 1],
    ['one of several devices is a bond', [BOND, NIC], 'Sum', 'ActiveSlaves', 17],
    ['the fullest device is the bond', [BOND, NIC], 'Fullest', 'ActiveSlaves', 25],
    ['the fullest device is no bond', [BOND, { ...NIC, rate: '90' }], 'Fullest', 'Series', 90],
    ['the bond is not measured: it is down', [{ ...BOND, rate: '0', speed: DOWN }, NIC], 'Sum', 'Series', 1],
  ])('%s', (_why, devices, measure, source, percent) => {
    expect(by(devices, measure)).toMatchObject({ capacitySource: source, percent });
  });

  it('is what states the capacity, if something does', () => {
    expect(usageOf([BOND], '800kbit')).toMatchObject({ capacitySource: 'Annotation', percent: 0.05 });
  });
});

describe('a bond without a speed', () => {
  it.each<[why: string, bond: Partial<Device>, measure: Measure, direction: Direction]>([
    ['its slaves report no speed or no duplex', { speed: DOWN }, 'Sum', 'Transmit'],
    ['the exporter cannot read it', {}, 'Sum', 'Transmit'],
    ['the fullest device may be the bond', { speed: DOWN }, 'Fullest', 'Transmit'],
    ['it only receives', { speed: DOWN, rate: '0' }, 'Sum', 'Max'],
    ['it only receives, and that counts', { speed: DOWN, rate: '0' }, 'Sum', 'Receive'],
  ])('makes the node Unknown while it has real traffic: %s', (_why, change, measure, direction) => {
    const { name, rate, received, total, flags } = BOND as Required<Device>;
    expect(by([{ name, rate, received, total, flags, ...change }, NIC], measure, direction)).toMatchObject({
      reason: 'NoCapacity',
      message: expect.stringContaining('a bond has the speed of its active slaves') as string,
    });
  });

  it('never gets the sum of its slaves: one may be a standby that cannot send', () => {
    const slave = { total: '7', speed: '100', flags: String(0x1803) };
    const devices = [
      { ...BOND, speed: DOWN },
      { ...slave, name: 'eth0', rate: '50' },
      { ...slave, name: 'eth1', rate: '0' },
    ];
    expect(by(devices)).toMatchObject({ reason: 'NoCapacity' });
    expect(by(devices)).not.toHaveProperty('capacityBytesPerSecond');
  });

  it('is not measured while it has no traffic in the direction, as a NIC that is down', () => {
    expect(by([{ ...BOND, speed: DOWN, rate: '0' }, NIC])).toMatchObject({ percent: 1, devices: ['eth2'] });
  });

  it('has no part in the percent below 1 % of the known speeds: every device without a speed is treated so', () => {
    const usage = by([{ ...BOND, speed: DOWN, rate: '0.9' }, NIC]);
    expect(usage).toMatchObject({ percent: 1, devices: ['eth2'], capacitySource: 'Series' });
  });

  it('is measured by a stated capacity', () => {
    expect(usageOf([{ ...BOND, speed: DOWN }, NIC], '800bit')).toMatchObject({
      percent: 51,
      devices: ['bond0', 'eth2'],
    });
  });
});
