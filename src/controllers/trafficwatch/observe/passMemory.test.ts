import { beforeEach, describe, expect, it } from 'vitest';
import {
  DEFAULT_READING,
  distinctReadings,
  NO_READINGS,
  readingKey,
  type Reading,
  type Readings,
} from '../../../usage/evaluate/reading.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { aWatch, NOW, pass, usage } from '../testing/observations.ts';
import { aScene } from '../testing/scene.ts';
import { observe } from './observe.ts';
import { PassMemory } from './passMemory.ts';

const RECEIVE: Reading = { direction: 'Receive' };
const MINUTE = 60_000;

type Percents = Record<string, number | undefined>;

/** A pass with the percents of the default reading and, if it evaluated that one, of the received traffic. */
function passAt(minute: number, percents: Percents, received?: Percents): Snapshot {
  const nodes = new Map(Object.entries(received ?? {}).map(([node, percent]) => [node, usage(node, percent)]));
  return pass(minute + 1, percents, {
    startedAt: NOW + minute * MINUTE,
    ...(received && { readings: new Map([[readingKey(RECEIVE), { nodes, warnings: [] }]]) }),
  });
}

let memory: PassMemory;
let demand: { readings: Readings; missing: string[] };
beforeEach(() => {
  demand = { readings: NO_READINGS, missing: [] };
  memory = new PassMemory(() => 24_000, demand);
});

const NONE: ReadonlyMap<string, unknown> = new Map();

function saw(pass: Snapshot, notMeasurable = NONE): void {
  memory.saw(pass, notMeasurable);
}

/** Node name -> minute. */
function missing(reading: Reading): Record<string, number> {
  return Object.fromEntries([...memory.missingSince(reading)].map(([node, ms]) => [node, (ms - NOW) / MINUTE]));
}

const ALL = { n1: 1, n2: 1 };
const LACKS_N2 = { n1: 1, n2: undefined };

describe('PassMemory', () => {
  it('knows for each reading which nodes have no figure', () => {
    demand.missing = [DEFAULT_READING, RECEIVE].map(readingKey);
    saw(passAt(0, ALL, LACKS_N2));
    expect([missing(DEFAULT_READING), missing(RECEIVE)]).toEqual([{}, { n2: 0 }]);
    saw(passAt(1, LACKS_N2, ALL));
    expect([missing(DEFAULT_READING), missing(RECEIVE)]).toEqual([{ n2: 1 }, {}]);
  });

  it('counts no time of passes that did not evaluate the reading', () => {
    demand.missing = [RECEIVE].map(readingKey);
    saw(passAt(0, ALL));
    expect(missing(RECEIVE)).toEqual({});
    saw(passAt(1, ALL, LACKS_N2));
    saw(passAt(2, ALL));
    expect(missing(RECEIVE)).toEqual({ n2: 1 });
    saw(passAt(4, ALL, LACKS_N2));
    expect(missing(RECEIVE)).toEqual({ n2: 4 });
  });

  it('counts no time in which a node cannot be measured: it begins again when the node can be', () => {
    demand.missing = [DEFAULT_READING].map(readingKey);
    saw(passAt(0, LACKS_N2));
    for (const minute of [1, 2, 9]) saw(passAt(minute, LACKS_N2), new Map([['n2', 'not Ready']]));
    expect(missing(DEFAULT_READING)).toEqual({});
    for (const minute of [10, 11]) saw(passAt(minute, LACKS_N2));
    expect(missing(DEFAULT_READING)).toEqual({ n2: 10 });
  });

  it('drops what it knows for a reading that no TrafficWatch needs', () => {
    demand.missing = [DEFAULT_READING, RECEIVE].map(readingKey);
    saw(passAt(0, LACKS_N2, LACKS_N2));
    demand.missing = [DEFAULT_READING].map(readingKey);
    saw(passAt(1, LACKS_N2, LACKS_N2));
    expect([missing(DEFAULT_READING), missing(RECEIVE)]).toEqual([{ n2: 0 }, {}]);
  });
});

describe('isWindowFilling', () => {
  const NONE_AT_ALL = { n1: undefined, n2: undefined };
  const filling = (newest: Snapshot): boolean[] =>
    [DEFAULT_READING, RECEIVE].map((reading) => memory.isWindowFilling(newest, reading));
  const passes = (...seen: [Percents, Percents?][]): Snapshot => {
    const all = seen.map(([percents, received], minute) => passAt(minute, percents, received));
    for (const each of all) saw(each);
    return all.at(-1)!;
  };

  it('is the outage of the reading: receive rates were missing, or transmit rates', () => {
    demand.readings = distinctReadings([RECEIVE]);
    expect(filling(passes([ALL, ALL], [ALL, NONE_AT_ALL], [ALL, ALL]))).toEqual([false, true]);
    memory = new PassMemory(() => 24_000, demand);
    demand.readings = distinctReadings([RECEIVE]);
    expect(filling(passes([ALL, ALL], [NONE_AT_ALL, ALL], [ALL, ALL]))).toEqual([true, false]);
  });

  it('is false for a reading that no pass has evaluated before', () => {
    passes([ALL]);
    demand.readings = distinctReadings([RECEIVE]);
    expect(filling(passes([ALL], [ALL], [ALL, ALL]))).toEqual([false, false]);
  });

  it('of a new reading is the outage of the default reading', () => {
    passes([ALL], [NONE_AT_ALL]);
    demand.readings = distinctReadings([RECEIVE]);
    expect(filling(passes([ALL, ALL]))).toEqual([true, true]);
  });
});

describe('observe', () => {
  it('looks at the nodes that have no figure for the reading of the TrafficWatch', async () => {
    const scene = aScene();
    const { spec, ...watch } = aWatch();
    scene.watches.set({ ...watch, spec: { ...spec, direction: 'Receive' } });
    demand.missing = [DEFAULT_READING, RECEIVE].map(readingKey);
    saw(passAt(0, ALL, LACKS_N2));
    const seen = await observe({ ...scene.sources, passMemory: memory }, 'shop/web');
    expect([...(seen?.missingSince ?? [])]).toEqual([['n2', NOW]]);
  });

  it('looks whether the window of that reading is filling', async () => {
    const scene = aScene();
    const { spec, ...watch } = aWatch();
    scene.watches.set({ ...watch, spec: { ...spec, direction: 'Receive' } });
    demand.readings = distinctReadings([RECEIVE]);
    const all = [passAt(0, ALL, ALL), passAt(1, ALL, { n1: undefined }), passAt(2, ALL, ALL)];
    all.forEach((each) => saw(each));
    scene.feed.passes = all.toReversed();
    const seen = await observe({ ...scene.sources, passMemory: memory }, 'shop/web');
    expect(seen?.isWindowFilling).toBe(true);
  });
});
