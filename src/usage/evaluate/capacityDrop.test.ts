import { describe, expect, it } from 'vitest';
import { capacityDrop, describeDrop, isAboveForDrop } from './capacityDrop.ts';
import type { CountedDevice } from './devices/devices.ts';
import { FactSamples, NodeSamples, type DeviceSamples } from '../series/nodeSamples.ts';
import type { NodeUsage } from './percent.ts';

const TEN_GBIT = 1.25e9;

function samples(devices: Record<string, Partial<DeviceSamples>>): NodeSamples {
  const node = new NodeSamples();
  for (const [name, fields] of Object.entries(devices))
    node.devices.set(name, Object.assign(new FactSamples(), fields));
  return node;
}

function counted(name: string, speed: number): CountedDevice {
  return { name, speed, invalid: undefined };
}

function usage(percent: number, devices: readonly string[], capacityBytesPerSecond: number): NodeUsage {
  return { node: 'a', percent, capacityBytesPerSecond, devices, timeSeconds: 0, reason: 'Measured' };
}

describe('capacityDrop', () => {
  const facts = { counted: [counted('bond0', TEN_GBIT), counted('eth0', -125000), counted('eth2', TEN_GBIT)] };
  const node = usage(10, ['bond0', 'eth2'], 2 * TEN_GBIT);

  it('sums the former speeds, and names the devices that became slower', () => {
    const peaks = samples({ bond0: { peak: 2 * TEN_GBIT } });
    expect(capacityDrop(node, facts, peaks)).toEqual({ fromBytesPerSecond: 3 * TEN_GBIT, devices: ['bond0'] });
  });

  it.each([
    ['the device is not measured, such as a slave that lost its link', { eth0: { peak: TEN_GBIT } }],
    ['the speed is back since the query', { bond0: { peak: TEN_GBIT } }],
    ['the device is gone', { eth7: { peak: TEN_GBIT } }],
    ['the peak is not a number', { bond0: { peak: NaN } }],
    ['the peak is infinite', { bond0: { peak: Infinity } }],
    ['the peak is SPEED_UNKNOWN in 32 bits', { bond0: { peak: 4_294_967_295 * 125_000 } }],
    ['the peak is SPEED_UNKNOWN in 16 bits', { bond0: { peak: 65_535 * 125_000 } }],
  ])('reports no drop: %s', (_why, peaks) => {
    expect(capacityDrop(node, facts, samples(peaks))).toBeUndefined();
  });

  it('reports no drop of a node that is not measured', () => {
    const unknown: NodeUsage = { node: 'a', devices: [], timeSeconds: 0, reason: 'NoSeries' };
    expect(capacityDrop(unknown, undefined, samples({ bond0: { peak: 1 } }))).toBeUndefined();
  });
});

describe('a node whose capacity fell', () => {
  const drop = { fromBytesPerSecond: 2 * TEN_GBIT, devices: ['bond0'] };
  const node = { ...usage(80, ['bond0'], TEN_GBIT), drop };

  it('is described with both capacities', () => {
    expect(describeDrop(node)).toBe('capacity fell from 20Gbit to 10Gbit (bond0)');
    expect(describeDrop(usage(80, ['bond0'], TEN_GBIT))).toBeUndefined();
  });

  it.each([
    [60, true, '40 % of the former capacity'],
    [39, false, 'also above with the former capacity'],
    [40, true, 'the threshold itself is not above the threshold'],
    [80, false, 'not above'],
  ])('is above %d % only because of the drop: %s (%s)', (maxPercent, expected) => {
    expect(isAboveForDrop(node, maxPercent)).toBe(expected);
  });
});
