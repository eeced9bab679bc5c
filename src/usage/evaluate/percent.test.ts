import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPercent } from './percent.ts';
import { TIME, usageOf, type Device } from './testing/usageOf.ts';

const SLAVE = 0x800;

const ETH0: Device = { name: 'eth0', rate: '125000000', total: '5000000001', speed: '1250000000' };

describe('nodeUsage', () => {
  it('is 100 times the rate divided by the speed', () => {
    expect(usageOf([ETH0])).toEqual({
      node: 'a',
      percent: 10,
      transmitBytesTotal: 5_000_000_001,
      bytesPerSecond: 125e6,
      capacityBytesPerSecond: 1.25e9,
      capacitySource: 'Series',
      devices: ['eth0'],
      timeSeconds: TIME,
      reason: 'Measured',
      lacksDrivers: true,
    });
  });

  it('divides the sum of the rates by the sum of the speeds', () => {
    const eth1 = { name: 'eth1', rate: '125000000', total: '1', speed: '125000000' };
    expect(usageOf([ETH0, eth1])).toMatchObject({ percent: 25e9 / 1.375e9, devices: ['eth0', 'eth1'] });
  });

  it.each<[speed: string | undefined, why: string]>([
    ['-125000', 'a NIC that is down'],
    ['0', 'a virtual device'],
    ['NaN', 'garbage'],
    ['+Inf', 'garbage'],
    ['fast', 'garbage'],
    [undefined, 'no speed file, as on AWS'],
  ])('does not measure a device with the speed %s: %s', (speed) => {
    // One sorts before and one after the measured device.
    const others = ['eno1', 'eth1'].map((name) => ({ name, rate: '777', total: '9', ...(speed && { speed }) }));
    const usage = usageOf([ETH0, ...others]);
    expect(usage).toMatchObject({ percent: 10, devices: ['eth0'], bytesPerSecond: 125e6 });
    expect(usage.transmitBytesTotal).toBe(5_000_000_019);
  });

  it('divides by the annotation if there is one, and then counts all devices', () => {
    const unknownSpeed = { name: 'eth1', rate: '125000000', total: '1' };
    expect(usageOf([ETH0, unknownSpeed], '4Gbit')).toMatchObject({
      percent: 50,
      capacityBytesPerSecond: 5e8,
      capacitySource: 'Annotation',
      devices: ['eth0', 'eth1'],
      reason: 'Measured',
    });
  });

  it('is 0 for a slope that is a little below, as of a counter that hardly moves', () => {
    expect(usageOf([{ ...ETH0, rate: '-0.4' }])).toMatchObject({ percent: 0, bytesPerSecond: 0 });
  });

  const noPercent: [reason: string, why: string, devices: Device[], capacity?: string][] = [
    ['NoSeries', 'no device', []],
    ['NoSeries', 'only devices that do not count', [{ ...ETH0, name: 'cni0' }]],
    ['StaleSamples', 'a counter without a rate', [{ name: 'eth0', total: '1', speed: '1' }]],
    ['StaleSamples', 'a rate whose target is gone', [{ name: 'eth0', rate: '5' }]],
    ['StaleSamples', 'an annotation, and one of two rates is missing', [ETH0, { name: 'eth1', total: '1' }], '1Gbit'],
    ['NoCapacity', 'no speed at all', [{ name: 'eth0', rate: '5', total: '5' }]],
    ['NoCapacity', 'all devices are down', [{ ...ETH0, speed: '-125000' }]],
    ['InvalidCapacity', 'an annotation that cannot be parsed, although there are speeds', [ETH0], 'lots'],
    ['CounterReset', 'a rate below 0', [{ ...ETH0, rate: '-1' }]],
    ['CounterReset', 'such a device and a valid one', [ETH0, { name: 'eth1', rate: '-1e6', total: '1', speed: '1' }]],
    ['InvalidSample', 'a rate that is not a number', [{ ...ETH0, rate: 'NaN' }]],
    ['InvalidSample', 'an infinite rate', [{ ...ETH0, rate: '+Inf' }]],
    ['InvalidSample', 'a rate that is not a number, without a counter', [{ name: 'eth0', rate: 'NaN' }]],
    ['InvalidSample', 'such a device and a valid one', [ETH0, { name: 'eth1', rate: 'NaN', speed: '1' }]],
    ['InvalidSample', 'a counter that is not a number', [{ ...ETH0, total: 'NaN' }]],
    ['InvalidSample', 'a counter below 0', [{ ...ETH0, total: '-2' }]],
    ['InvalidSample', 'flags that are not a number', [{ ...ETH0, flags: 'NaN' }]],
    ['InvalidSample', 'a quotient that overflows', [{ ...ETH0, rate: '1e300', speed: '1e-300' }]],
    ['AmbiguousSeries', 'two exporters', [ETH0, { ...ETH0, name: 'eth1', instance: 'a:9796' }]],
    ['AmbiguousSeries', 'one device twice', [ETH0, ETH0]],
    [
      'AmbiguousUplink',
      'two veths and nothing else',
      [
        { ...ETH0, name: 'vetha' },
        { ...ETH0, name: 'vethb' },
      ],
    ],
  ];
  it.each(noPercent)('is %s and no percent: %s', (reason, _why, devices, capacity) => {
    const usage = usageOf(devices, capacity);
    expect(usage).toMatchObject({ reason, devices: [], timeSeconds: TIME });
    expect(usage.percent).toBeUndefined();
    expect(usage.message).toMatch(/\w{3}/);
  });

  it('ignores invalid samples of devices that do not count', () => {
    expect(usageOf([ETH0, { name: 'cni0', rate: 'NaN', total: '-1' }])).toMatchObject({ percent: 10 });
  });

  it('names the value or device at fault in the message', () => {
    expect(usageOf([ETH0], 'lots').message).toContain('"lots"');
    expect(usageOf([{ ...ETH0, speed: '-125000' }]).message).toContain('eth0: speed -125000');
    expect(usageOf([{ ...ETH0, rate: 'NaN' }]).message).toBe('rate of eth0 is "NaN"');
    expect(usageOf([ETH0, { ...ETH0, instance: 'a:9796' }]).message).toMatch(/"a:9100", "a:9796"; choose .*matchers/);
  });

  it('still reports the traffic of a node with unknown capacity', () => {
    const usage = usageOf([{ name: 'eth0', rate: '5', total: '7' }]);
    expect(usage).toMatchObject({ reason: 'NoCapacity', transmitBytesTotal: 7, bytesPerSecond: 5 });
  });
});

const names = fc.constantFrom('eth0', 'eth1', 'bond0', 'ens5', 'cni0', 'lo', 'vetha', 'eth0.7');
const numbers = fc.oneof(
  fc.double({ min: 0, max: 1e12, noNaN: true }).map(String),
  fc.constantFrom('0', '1', '1.25e+09'),
);
const odd = fc.constantFrom('NaN', '+Inf', '-Inf', '-125000', '', 'x', '0');
const values = fc.oneof({ weight: 5, arbitrary: numbers }, { weight: 1, arbitrary: odd });
const device: fc.Arbitrary<Device> = fc.record(
  { name: names, rate: values, total: values, speed: values, flags: fc.constantFrom('4099', String(SLAVE), 'NaN') },
  { requiredKeys: ['name'] },
);
const devices = fc.uniqueArray(device, { selector: ({ name }) => name, maxLength: 6 });
const capacity = fc.option(fc.constantFrom('1Gbit', '25Gbit', 'x'), { nil: undefined });

describe('nodeUsage, for any series', () => {
  it('gives a finite percent of at least 0 if the reason is Measured, otherwise none', () => {
    fc.assert(
      fc.property(devices, capacity, (all, annotation) => {
        const { percent, reason, message } = usageOf(all, annotation);
        if (reason !== 'Measured') return percent === undefined && message !== undefined;
        return percent !== undefined && Number.isFinite(percent) && percent >= 0 && message === undefined;
      }),
      { numRuns: 1000 },
    );
  });

  it('never replaces missing data: a measured device has a rate, and a speed unless there is an annotation', () => {
    fc.assert(
      fc.property(devices, capacity, (all, annotation) => {
        for (const name of usageOf(all, annotation).devices) {
          const { rate, speed, total } = all.find((one) => one.name === name) ?? {};
          expect(Number(rate)).toBeGreaterThanOrEqual(0);
          expect(Number(total)).toBeGreaterThanOrEqual(0);
          if (annotation === undefined) expect(Number(speed)).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('does not depend on the order of the series', () => {
    const shuffled = devices.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, capacity, ([all, other], annotation) => {
        expect(usageOf(other, annotation)).toEqual(usageOf(all, annotation));
      }),
      { numRuns: 1000 },
    );
  });

  it('never counts a slave in addition to its bond', () => {
    const slaves = fc.uniqueArray(fc.constantFrom('eth0', 'eth1', 'eth2', 'eth3'), { minLength: 1 });
    fc.assert(
      fc.property(slaves, fc.integer({ min: 0, max: 1e9 }), (beneath, rate) => {
        const text = String(rate);
        const all = beneath.map((name) => ({
          name,
          rate: text,
          total: '1',
          speed: '1e9',
          flags: String(SLAVE | 0x1003),
        }));
        const bond = { name: 'bond0', rate: text, total: '1', speed: '1e9', flags: '5187' };
        expect(usageOf([...all, bond])).toEqual(usageOf([bond]));
      }),
    );
  });

  it('gives the sum of the counters as an integer', () => {
    fc.assert(
      fc.property(devices, (all) => {
        const { transmitBytesTotal } = usageOf(all);
        return transmitBytesTotal === undefined || Number.isInteger(transmitBytesTotal);
      }),
    );
  });
});

describe('formatPercent', () => {
  it.each([
    [1.06976e-4, '1.06976e-04', 'the form of existing objects'],
    [0, '0e+00', 'zero'],
    [5, '5e+00', 'an integer'],
    [10, '1e+01', 'no trailing zeros'],
    [99.5, '9.95e+01', 'an exponent of two digits'],
    [1e100, '1e+100', 'an exponent of three digits'],
    [1e-10, '1e-10', 'a negative exponent'],
    [0.1 + 0.2, '3.0000000000000004e-01', 'the shortest digits that parse to the same number'],
  ])('%d is %s: %s', (percent, text) => {
    expect(formatPercent(percent)).toBe(text);
  });

  it('gives a text that parses to the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), (percent) => {
        const text = formatPercent(percent);
        expect(text).toMatch(/^\d(\.\d+)?e[+-]\d{2,3}$/);
        expect(Number(text)).toBe(percent);
      }),
    );
  });
});
