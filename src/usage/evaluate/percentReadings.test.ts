import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeUsage } from './percent.ts';
import type { Direction } from './reading.ts';
import { usageOf, type Device } from './testing/usageOf.ts';

describe('a direction', () => {
  /** Sends at 20 % and receives at 70 %. */
  const NIC: Device = { name: 'eth0', total: '9', speed: '100', rate: '20', received: '70' };
  const by = (direction: Direction, devices: readonly Device[] = [NIC], capacity?: string): NodeUsage =>
    usageOf(devices, capacity, { direction });

  it.each<[Direction, number]>([
    ['Transmit', 20],
    ['Receive', 70],
    ['Max', 70],
    ['Sum', 90],
  ])('%s: %d percent, with 20 sent and 70 received', (direction, percent) => {
    expect(by(direction)).toMatchObject({ percent, bytesPerSecond: percent, capacityBytesPerSecond: 100 });
    expect(by(direction, [NIC], '1600bit')).toMatchObject({ percent: percent / 2, capacityBytesPerSecond: 200 });
  });

  it('leaves the counter in the status that of the bytes sent', () => {
    expect(by('Receive').transmitBytesTotal).toBe(9);
  });

  it('Max takes the larger percentage of the node, not that of each device', () => {
    const other = { ...NIC, name: 'eth1', rate: '60', received: '10' };
    expect(by('Max', [NIC, other]).percent).toBe(40);
    expect(by('Sum', [NIC, other]).percent).toBe(80);
  });

  it.each<Direction>(['Receive', 'Max', 'Sum'])('%s has no figure for a node without receive rates', (direction) => {
    const usage = by(direction, [{ name: 'eth0', total: '9', speed: '100', rate: '20' }]);
    expect(usage).toMatchObject({ reason: 'StaleSamples', devices: [] });
    expect(usage).not.toHaveProperty('percent');
    expect(usage.message).toMatch(/^no receive rate: .* eth0: .*node_network_receive_bytes_total$/);
  });

  it.each<Direction>(['Receive', 'Max', 'Sum'])('%s leaves out one device without a receive rate', (direction) => {
    const silent = { name: 'eth1', total: '9', speed: '900', rate: '90' };
    expect(by(direction, [NIC, silent])).toEqual({ ...by(direction), transmitBytesTotal: 18 });
    expect(by(direction, [NIC, silent], '1600bit')).toMatchObject({ reason: 'StaleSamples' });
  });

  it('Receive ignores a missing transmit rate, Max and Sum do not', () => {
    const silent = { name: 'eth0', total: '9', speed: '100', received: '70' };
    expect(by('Receive', [silent]).percent).toBe(70);
    for (const direction of ['Max', 'Sum'] as const) {
      expect(by(direction, [silent])).toMatchObject({
        reason: 'StaleSamples',
        message: expect.not.stringMatching(/^no receive/) as string,
      });
    }
  });

  it.each<Direction>(['Receive', 'Max', 'Sum'])(
    '%s reports a receive rate that is no number; Transmit does not',
    (direction) => {
      const device = { ...NIC, received: 'NaN' };
      expect(by(direction, [device])).toMatchObject({ reason: 'InvalidSample' });
      expect(by(direction, [{ ...NIC, received: '-1' }])).toMatchObject({ reason: 'InvalidSample' });
      expect(by('Transmit', [device]).percent).toBe(20);
    },
  );

  it('is ambiguous if the receive rates are of two exporters', () => {
    const twice = [NIC, { name: 'eth0', received: '1', instance: 'b:9100' }];
    expect(by('Max', twice)).toMatchObject({ reason: 'AmbiguousSeries' });
    expect(by('Receive', twice)).toMatchObject({ reason: 'AmbiguousSeries' });
    expect(by('Transmit', twice).percent).toBe(20);
  });

  it('is never below 0 and never a number without all rates', () => {
    const rate = fc.option(fc.integer({ min: 0, max: 1_000 }).map(String), { nil: undefined });
    fc.assert(
      fc.property(fc.constantFrom<Direction>('Receive', 'Max', 'Sum'), rate, rate, (direction, sent, received) => {
        const device = {
          name: 'eth0',
          total: '9',
          speed: '100',
          ...(sent && { rate: sent }),
          ...(received && { received }),
        };
        const { percent } = by(direction, [device]);
        const isComplete = received !== undefined && (direction === 'Receive' || sent !== undefined);
        expect(percent !== undefined).toBe(isComplete);
        expect(percent ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
