import { describe, expect, it } from 'vitest';
import { DeviceFilter, DeviceFilters } from './deviceFilter.ts';
import type { NodeFacts } from '../nodeFacts.ts';
import type { NodeDevices } from './devices.ts';
import type { Reading } from '../reading.ts';

function factsOf(...names: string[]): NodeFacts {
  const counted = names.map((name) => ({ name, speed: 100, invalid: undefined }));
  const devices: NodeDevices = {
    counted,
    names,
    excluded: new Map([['lo', 'Loopback']]),
    ambiguousUplinks: [],
    lacksDrivers: undefined,
  };
  return {
    devices,
    transmitBytesTotal: 7,
    sentByAll: 7,
    soleInstance: 'a:9100',
    duplicate: undefined,
    instances: undefined,
  };
}

const left = (patterns: Pick<Reading, 'include' | 'exclude'>, ...names: string[]): readonly string[] =>
  new DeviceFilter(patterns).apply(factsOf(...names)).devices.names;

describe('DeviceFilter', () => {
  it.each<[string, Pick<Reading, 'include' | 'exclude'>, string[]]>([
    ['exclude removes', { exclude: 'eth1' }, ['bond0', 'eth0', 'eth10']],
    ['include keeps only', { include: 'bond.*|eth1' }, ['bond0', 'eth1']],
    ['exclude wins over include', { include: 'eth.*', exclude: 'eth1.*' }, ['eth0']],
    ['no device may be left', { include: 'ens.*' }, []],
    ['the whole name must match', { include: 'th' }, []],
    ['alternatives are anchored together', { exclude: 'eth0|eth1' }, ['bond0', 'eth10']],
    ['flags of RE2 apply', { include: '(?i)ETH0' }, ['eth0']],
  ])('%s: %j', (_why, patterns, expected) => {
    expect(left(patterns, 'bond0', 'eth0', 'eth1', 'eth10')).toEqual(expected);
  });

  it('says which devices it left out, keeps the other facts, and shares results', () => {
    const facts = factsOf('eth0', 'eth1');
    const filter = new DeviceFilter({ exclude: 'eth1' });
    const filtered = filter.apply(facts);
    expect(filtered.devices.counted).toEqual([{ name: 'eth0', speed: 100, invalid: undefined }]);
    expect([...filtered.devices.excluded]).toEqual([
      ['lo', 'Loopback'],
      ['eth1', 'Filtered'],
    ]);
    expect(filtered.transmitBytesTotal).toBe(7);
    expect(filter.apply({ ...facts }).devices).toBe(filtered.devices);
  });

  it('changes nothing if all devices are left', () => {
    const facts = factsOf('eth0');
    expect(new DeviceFilter({ include: 'eth.*' }).apply(facts)).toBe(facts);
  });

  it.each([
    ['bond0', undefined],
    ['bond0|eth0', expect.stringContaining('of eth0,') as string],
  ])('leaves the doubt about missing series that the devices left have: %s', (include, doubt) => {
    const { devices, ...facts } = factsOf('bond0', 'eth0', 'eth1');
    const [bond, ...nics] = devices.counted;
    if (bond === undefined) expect.fail('no device');
    const slaves = nics.map((nic) => ({ ...nic, unclear: { mayBeSlave: true } as const }));
    const counted = [{ ...bond, isBond: true } as const, ...slaves];
    const all = { ...facts, devices: { ...devices, counted, doubt: 'of eth0, eth1,' } };
    expect(new DeviceFilter({ include }).apply(all).devices.doubt).toEqual(doubt);
  });

  it.each<[string, Pick<Reading, 'include' | 'exclude'>, string[] | undefined]>([
    ['all', { exclude: 'ib.*' }, ['eth1', 'eth2']],
    ['some', { exclude: 'eth1' }, ['eth2']],
    ['none', { include: 'eth0' }, undefined],
  ])('leaves those without a counter that it selects: %s', (_how, patterns, expected) => {
    const { devices, ...facts } = factsOf('eth0');
    const withoutCounter = ['eth1', 'eth2'].map((name) => ({ name, speed: 100 }));
    const { devices: filtered } = new DeviceFilter(patterns).apply({
      ...facts,
      devices: { ...devices, withoutCounter },
    });
    expect(filtered.withoutCounter?.map(({ name }) => name)).toEqual(expected);
    expect(filtered.names).toEqual(['eth0']);
  });

  it('matches in linear time: a pattern that takes a RegExp years', () => {
    const name = `${'a'.repeat(60)}!`;
    const start = performance.now();
    expect(left({ include: '((a+)+)+' }, name)).toEqual([]);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it('is about more names than it remembers', () => {
    const filter = new DeviceFilter({ exclude: '.*7' });
    for (let n = 0; n < 20_010; n++) {
      const { names } = filter.apply(factsOf(`eth${n}`)).devices;
      if (names.length !== (n % 10 === 7 ? 0 : 1)) expect.fail(`eth${n}`);
    }
  });
});

describe('DeviceFilters', () => {
  it('has one filter for a reading, and none without a pattern', () => {
    const filters = new DeviceFilters();
    const reading: Reading = { direction: 'Transmit', include: 'eth.*' };
    expect(filters.of(reading)).toBe(filters.of(reading));
    expect(filters.of({ direction: 'Receive' })).toBeUndefined();
  });

  it('has none for a pattern that is none', () => {
    expect(new DeviceFilters().of({ direction: 'Transmit', exclude: '(' })).toBe('Invalid');
  });

  it('filters the same with more patterns than are kept compiled', () => {
    const filters = new DeviceFilters();
    const readings = Array.from({ length: 50 }, (_, n): Reading => ({
      direction: 'Transmit',
      include: `eth${n}|bond.*`,
    }));
    for (const name of ['eth7', 'bond0']) {
      const counting = readings.filter((reading) => {
        const filter = filters.of(reading);
        return filter !== 'Invalid' && filter?.apply(factsOf(name)).devices.names.length === 1;
      });
      expect(counting).toEqual(name === 'bond0' ? readings : [readings[7]]);
    }
  });
});
