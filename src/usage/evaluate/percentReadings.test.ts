import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotated, type StatedCapacity } from '../../nodes/statedCapacity.ts';
import type { NodeUsage } from './percent.ts';
import type { Direction, Measure } from './reading.ts';
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

  it('leaves the counter of sent bytes in the status', () => {
    expect(by('Receive').transmitBytesTotal).toBe(9);
  });

  it('Max takes the larger percentage of the node, not of each device', () => {
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
      expect(by(direction, [{ ...NIC, received: '-1' }])).toMatchObject({ reason: 'CounterReset' });
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
    const rate = fc.option(fc.integer({ min: 0, max: 125 }).map(String), { nil: undefined });
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

describe('a measure', () => {
  /** Nearly full, next to an idle device with more speed. */
  const FULL: Device = { name: 'eth0', total: '5', speed: '1000', rate: '950', received: '10' };
  const IDLE: Device = { name: 'eth1', total: '7', speed: '2500', rate: '0', received: '1000' };
  const by = (
    measure: Measure,
    devices: readonly Device[],
    capacity?: string | StatedCapacity,
    direction: Direction = 'Transmit',
  ) => usageOf(devices, capacity, { direction, measure });

  it('is 27 % by Sum and 95 % by Fullest for a full 10G device next to an idle one of 25G', () => {
    const sum = by('Sum', [FULL, IDLE]);
    expect(sum.percent).toBeCloseTo(27.14, 2);
    expect(sum).toMatchObject({ fullest: { device: 'eth0', percent: 95 }, devices: ['eth0', 'eth1'] });
    const fullest = by('Fullest', [FULL, IDLE]);
    expect(fullest).toMatchObject({
      percent: 95,
      bytesPerSecond: 950,
      capacityBytesPerSecond: 1000,
      devices: ['eth0'],
    });
    expect(fullest).toMatchObject({ transmitBytesTotal: 12 });
    expect(fullest.fullest).toBeUndefined();
  });

  it('is the same for a node with one device, and Sum names none', () => {
    expect(by('Fullest', [FULL])).toEqual(by('Sum', [FULL]));
    expect(by('Sum', [FULL]).fullest).toBeUndefined();
  });

  it.each<[Direction, number]>([
    ['Transmit', 95],
    ['Receive', 40],
    ['Max', 95],
    ['Sum', 96],
  ])('Fullest is by the direction %s: %d percent', (direction, percent) => {
    expect(by('Fullest', [FULL, IDLE], undefined, direction).percent).toBe(percent);
  });

  it('Fullest is the first by name of two that are as full', () => {
    expect(by('Fullest', [{ ...FULL, name: 'eth1' }, FULL]).devices).toEqual(['eth0']);
  });

  it('Fullest is never a device without a speed or a rate', () => {
    const noSpeed = { name: 'eth2', total: '1', rate: '9', speed: '-125000' };
    const noRate = { name: 'eth3', total: '1', speed: '1' };
    expect(by('Fullest', [FULL, noSpeed, noRate])).toMatchObject({ percent: 95, devices: ['eth0'] });
    expect(by('Fullest', [noSpeed])).toMatchObject({ reason: 'NoCapacity' });
    expect(by('Fullest', [noRate])).toMatchObject({ reason: 'StaleSamples' });
  });

  it('with a capacity annotation: the annotation replaces the speed of a single device', () => {
    expect(by('Fullest', [FULL], '80kbit')).toMatchObject({ percent: 9.5, capacityBytesPerSecond: 10_000 });
  });

  it('with a capacity annotation and several devices: all of them together can be fuller than one', () => {
    expect(by('Fullest', [FULL, IDLE], '80kbit')).toMatchObject({ percent: 95, devices: ['eth0'] });
    expect(by('Fullest', [FULL, IDLE], '7.6kbit')).toMatchObject({ percent: 100, devices: ['eth0', 'eth1'] });
    expect(by('Fullest', [FULL, { ...IDLE, speed: '-1' }], '80kbit')).toMatchObject({ percent: 95 });
    expect(by('Fullest', [FULL, { name: 'eth1', total: '7', speed: '1' }], '80kbit')).toMatchObject({
      reason: 'StaleSamples',
    });
    expect(by('Sum', [FULL, IDLE], '80kbit').fullest).toBeUndefined();
  });

  it.each<[text: string, annotation: string, devices: readonly Device[], measure: Measure, expected: object]>([
    ['0.08', '80kbit', [FULL], 'Fullest', { percent: 9.5, source: 'stated' }],
    ['0.08', '80kbit', [FULL, IDLE], 'Sum', { percent: 9.5, source: 'stated' }],
    ['0.08', '80kbit', [FULL, IDLE], 'Fullest', { percent: 95, source: 'Series' }],
    ['0.0076', '7.6kbit', [FULL, IDLE], 'Fullest', { percent: 100, source: 'stated' }],
  ])(
    'a label with %s is as an annotation or an entry of the spec with %s: on %j with %s %j',
    (text, annotation, devices, measure, expected) => {
      const label: StatedCapacity = { source: 'Label', key: 'example.com/mbits', text };
      const figures = (capacity: StatedCapacity) => {
        const { percent, capacitySource } = by(measure, devices, capacity);
        return { percent, source: capacitySource === capacity.source ? 'stated' : capacitySource };
      };
      expect(figures(label)).toEqual(expected);
      expect(figures(annotated(annotation))).toEqual(expected);
      expect(figures({ source: 'Spec', key: 'spec.capacity[0].value', text: annotation })).toEqual(expected);
    },
  );

  it.each<Direction>(['Receive', 'Max', 'Sum'])('says the source of the capacity with direction %s', (direction) => {
    const label: StatedCapacity = { source: 'Label', key: 'example.com/mbits', text: '1' };
    const spec: StatedCapacity = { source: 'Spec', key: 'spec.capacity[0].value', text: '1Mbit' };
    const sourceOf = (capacity?: StatedCapacity) => by('Sum', [FULL], capacity, direction).capacitySource;
    const sources = [sourceOf(), sourceOf(label), sourceOf(annotated('1Mbit')), sourceOf(spec)];
    expect(sources).toEqual(['Series', 'Label', 'Annotation', 'Spec']);
  });
});
