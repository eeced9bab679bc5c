import { describe, expect, it } from 'vitest';
import type { Direction, Reading } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

const SLAVE = String(0x1803);
/** Idle, 1 Gbit/s. */
const MGMT: Device = { name: 'eno1', rate: '0', received: '0', total: '7', speed: '125000000' };
/** 95 % of 10 Gbit/s. */
const SLAVES = ['eth2', 'eth3'].map((name): Device => ({
  ...MGMT,
  name,
  rate: '1187500000',
  received: '1187500000',
  speed: '1250000000',
  flags: SLAVE,
}));

describe('slaves with traffic while no bond counts', () => {
  it.each<{ why: string; direction?: Direction; capacity?: string; slaves?: readonly Device[] }>([
    { why: 'their bond is excluded by name' },
    { why: 'a capacity is stated', capacity: '20Gbit' },
    { why: 'they receive', direction: 'Receive' },
    { why: 'either direction', direction: 'Max' },
    { why: '1 % of their speeds', slaves: SLAVES.map((each) => ({ ...each, rate: '12500000' })) },
  ])('leave no figure: $why', ({ direction = 'Transmit', capacity, slaves = SLAVES }) => {
    const usage = usageOf([MGMT, ...slaves], capacity, { direction });
    expect(usage).toMatchObject({ reason: 'AmbiguousUplink', devices: [] });
    expect(usage.message).toContain('eth2, eth3 carry traffic as slaves, and no bond of the node counts');
  });

  const exclude: Reading = { direction: 'Transmit', exclude: 'eth[23]' };
  it.each<{ why: string; devices: readonly Device[]; reading?: Reading }>([
    { why: 'they are idle', devices: [MGMT, ...SLAVES.map((each) => ({ ...each, rate: '0' }))] },
    { why: 'the reading excludes them also', devices: [MGMT, ...SLAVES], reading: exclude },
    { why: 'another bond counts', devices: [{ ...MGMT, name: 'bond0', flags: String(0x1443) }, ...SLAVES] },
    {
      why: 'the synthetic device of Azure, without its driver, has their traffic',
      devices: [{ ...MGMT, name: 'eth0', rate: '1187500000', speed: '1250000000' }, SLAVES[0]!],
    },
    {
      why: 'the synthetic device of Azure, by its driver',
      devices: [{ ...MGMT, name: 'eth0', driver: 'hv_netvsc' }, SLAVES[0]!],
    },
    {
      why: 'the reading excludes the bond',
      devices: [MGMT, { ...MGMT, name: 'bond0', flags: String(0x1443) }, ...SLAVES],
      reading: { direction: 'Transmit', exclude: 'bond0' },
    },
  ])('do not matter: $why', ({ devices, reading }) => {
    expect(usageOf(devices, undefined, reading)).toMatchObject({ reason: 'Measured' });
  });
});
