import { describe, expect, it } from 'vitest';
import type { Direction, Reading } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

/** Idle, 10 Gbit/s. */
const PF: Device = { name: 'ens1f0', rate: '1000', received: '1000', total: '7', speed: '1250000000' };
/** 95 % of it. */
const VF: Device = { ...PF, name: 'ens1f0v0', rate: '1187500000' };
const TRANSMIT: Reading = { direction: 'Transmit' };
const iavf = { name: 'eth0', driver: 'iavf' };
const ice = { name: 'eth1', driver: 'ice' };

const remedy = (vf: string, pf: string): string =>
  `, so the load of their link is unknown; if ${vf} is an uplink of the node, exclude ${pf}: --device-exclude (chart: deviceExclude); ` +
  `otherwise exclude ${vf}: spec.devices`;
const uncounted = (vf: string, pf = 'ens1f0'): string =>
  `${vf} is a virtual function of ${pf}, with traffic that ${pf} does not count${remedy(vf, pf)}`;
const byDriver = `eth0 has traffic, and by its driver it may be a virtual function of eth1${remedy('eth0', 'eth1')}`;

interface Row {
  why: string;
  devices: Device[];
  direction?: Direction;
  capacity?: string;
  message?: string;
}

describe('a virtual function with traffic', () => {
  it.each<Row>([
    { why: 'the host uses it, and its physical function is idle', devices: [PF, VF] },
    { why: 'a capacity is stated', devices: [PF, VF], capacity: '10Gbit' },
    { why: '1 % of the speed', devices: [PF, { ...VF, rate: '12500000' }] },
    {
      why: 'several have 1 % together',
      devices: [PF, { ...VF, rate: '7000000' }, { ...VF, name: 'ens1f0v1', rate: '6000000' }],
    },
    { why: 'it receives', devices: [PF, { ...VF, rate: '0', received: '12500000' }], direction: 'Receive' },
    {
      why: 'it receives, and either counts',
      devices: [PF, { ...VF, rate: '0', received: '12500000' }],
      direction: 'Max',
    },
    { why: 'the physical function has less', devices: [{ ...PF, rate: '1000000000' }, VF] },
    {
      why: 'no speed is known',
      devices: [
        { ...PF, speed: '-125000' },
        { ...VF, speed: '-125000', rate: '1250000' },
      ],
    },
    {
      why: 'the physical function is the slave of a bond',
      devices: [{ ...PF, flags: String(0x1803) }, { ...PF, name: 'bond0', flags: String(0x1443) }, VF],
    },
    {
      why: 'the physical function has the name of its port',
      devices: [{ ...PF, name: 'ens1f0np0' }, VF],
      message: uncounted('ens1f0v0', 'ens1f0np0'),
    },
    {
      why: 'a virtual machine has a physical function of another card',
      devices: [
        { ...VF, ...iavf },
        { ...PF, ...ice, speed: '12500000000' },
      ],
      message: byDriver,
    },
    {
      why: 'by its driver, whatever the other device carries',
      devices: [
        { ...VF, ...iavf },
        { ...VF, ...ice },
      ],
      message: byDriver,
    },
  ])('leaves no figure: $why', ({ devices, direction = 'Transmit', capacity, message = uncounted('ens1f0v0') }) => {
    const usage = usageOf(devices, capacity, { direction });
    expect(usage).toMatchObject({ reason: 'AmbiguousUplink', devices: [], message });
    expect(usage).not.toHaveProperty('percent');
  });

  it.each<Row & { reading?: Reading; percent: number }>([
    { why: 'it has less than 1 %', devices: [PF, { ...VF, rate: '12499999' }], percent: 8e-5 },
    {
      why: 'by its driver, and it is idle',
      devices: [
        { ...PF, ...iavf },
        { ...VF, ...ice },
      ],
      percent: 95,
    },
    { why: 'its physical function counts it', devices: [{ ...PF, rate: '1187500000' }, VF], percent: 95 },
    { why: 'the same, and rates are not exact', devices: [{ ...PF, rate: '1100000000' }, VF], percent: 88 },
    {
      why: 'a representor: its traffic may stay on the host',
      devices: [PF, { ...VF, name: 'ens1f0r4' }],
      percent: 8e-5,
    },
    {
      why: 'the port of a DPU: the same',
      devices: [
        { ...PF, name: 'p0' },
        { ...VF, name: 'enp3s0f0s0' },
      ],
      percent: 8e-5,
    },
    { why: 'it has no physical function here', devices: [VF], percent: 95 },
    { why: 'the reading excludes it', devices: [PF, VF], reading: { ...TRANSMIT, exclude: '.*v0' }, percent: 8e-5 },
    {
      why: 'the reading includes others',
      devices: [PF, VF],
      reading: { ...TRANSMIT, include: 'ens1f0' },
      percent: 8e-5,
    },
  ])('does not matter: $why', ({ devices, reading, percent }) => {
    const usage = usageOf(devices, undefined, reading);
    expect(usage.reason).toBe('Measured');
    expect(usage.percent).toBeCloseTo(percent, 6);
  });
});
