import { describe, expect, it } from 'vitest';
import type { TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { DEFAULT_KEY } from '../../../usage/evaluate/reading.ts';
import { aWatch, KEY } from '../testing/observations.ts';
import { Demands } from './demands.ts';

const NODE = { hostname: undefined, labels: {}, otherLabels: { keys: [], values: [] } };
const ETH: Partial<TrafficWatchSpec> = { devices: { include: 'eth.*' } };

function demandsOf(...specs: object[]): Demands {
  const demands = new Demands(() => NODE);
  specs.forEach((spec, n) => set(demands, n, spec));
  return demands;
}

function set(demands: Demands, n: number, spec: object | undefined): void {
  const { spec: minimal, ...watch } = aWatch();
  demands.set(`shop/${n}`, spec && { ...watch, spec: { ...minimal, ...spec } });
}

const includes = ({ readings }: Demands): unknown[] => [...readings.values()].map(({ include }) => include);

describe('Demands', () => {
  it('are nothing but the default reading for TrafficWatches that ask for nothing', () => {
    const demands = demandsOf({}, {});
    const { readings, holds } = demands;
    const passes = demands.passesOf(DEFAULT_KEY);
    expect([readings.size, [...demands.missing], holds, passes, [...demands.selectors]]).toEqual([0, [], false, 2, []]);
  });

  it('have each reading once, as the same object, as long as a TrafficWatch needs it', () => {
    const demands = demandsOf(ETH, ETH);
    const [before] = demands.readings.values();
    expect(includes(demands)).toEqual(['eth.*']);
    set(demands, 1, undefined);
    set(demands, 0, { ...ETH, maxBandwidthPercent: 70 });
    expect([...demands.readings.values()][0]).toBe(before);
    set(demands, 0, { devices: { include: 'bond0' } });
    expect(includes(demands)).toEqual(['bond0']);
    set(demands, 0, undefined);
    expect(demands.readings.size).toBe(0);
  });

  it('show the same map of readings until a reading comes or goes', () => {
    const demands = demandsOf(ETH);
    const { readings } = demands;
    set(demands, 1, ETH);
    expect(demands.readings).toBe(readings);
    set(demands, 1, { direction: 'Receive' });
    expect([readings.size, demands.readings.size]).toEqual([1, 2]);
  });

  it('need of each reading as many passes as the TrafficWatch that compares most, and no number that the schema forbids', () => {
    const demands = demandsOf({ passes: { unfit: 5, fit: 3 } }, { passes: { unfit: 1e9, fit: 2.5 } }, ETH);
    const [key = ''] = demands.readings.keys();
    expect([DEFAULT_KEY, key, 'none'].map((each) => demands.passesOf(each))).toEqual([5, 2, 0]);
    set(demands, 3, { ...ETH, passes: { fit: 30 } });
    set(demands, 0, {});
    expect([demands.passesOf(DEFAULT_KEY), demands.passesOf(key)]).toEqual([2, 30]);
    set(demands, 3, undefined);
    expect(demands.passesOf(key)).toBe(2);
  });

  it('know of which readings it matters since when nodes have no figure, and whether labels are held', () => {
    const demands = demandsOf({ missingData: { policy: 'Unfit', after: '5m' } }, { ...ETH, minHold: '10m' });
    expect([[...demands.missing], demands.holds]).toEqual([[DEFAULT_KEY], true]);
    set(demands, 0, undefined);
    set(demands, 1, ETH);
    expect([[...demands.missing], demands.holds]).toEqual([[], false]);
  });

  it('have each selector for nodes once', () => {
    const ofZone = { nodeSelector: { matchLabels: { zone: 'a' } } };
    const demands = demandsOf(ofZone, ofZone, {});
    expect([...demands.selectors].map((matches) => matches(() => 'a'))).toEqual([true]);
    set(demands, 0, undefined);
    set(demands, 1, undefined);
    expect([...demands.selectors]).toEqual([]);
  });

  it('know how many bytes of labels a Node may have: one label for each key, none for mode Observe', () => {
    const demands = demandsOf({ label: 'web' }, { label: 'web' }, { label: 'api', mode: 'Observe' });
    expect(demands.labelBytes).toBe(KEY.length + 'false'.length);
  });

  it('leave out a pattern that takes long to compile, and read any other shape as no demand', () => {
    const costly = ['a{1000}', '((a{15}){15}){4}', 'x'.repeat(257)].map((include) => ({ devices: { include } }));
    expect(demandsOf(...costly).readings.size).toBe(0);
    const odd = [null, undefined, 7, [], { passes: null, devices: 3, capacity: 'fast', nodeSelector: [], minHold: {} }];
    const demands = new Demands(() => NODE);
    odd.forEach((spec, n) => demands.set(String(n), { ...aWatch(), spec: spec as unknown as TrafficWatchSpec }));
    expect([demands.readings.size, demands.passesOf(DEFAULT_KEY)]).toEqual([0, 2]);
  });

  it('do as much work for a change with 20,000 TrafficWatches as with none', () => {
    let looked = 0;
    const spec = {
      ...aWatch().spec,
      get devices() {
        looked++;
        return ETH.devices;
      },
    };
    const demands = new Demands(() => NODE);
    const cost = (key: string): number => {
      looked = 0;
      demands.set(key, { ...aWatch(), spec });
      return looked;
    };
    const first = cost('shop/0');
    for (let n = 1; n < 20_000; n++) cost(`shop/${n}`);
    expect([cost('shop/x'), cost('shop/7')]).toEqual([first, first]);
  });
});
