import { expect, it } from 'vitest';
import { sampleSize } from '../../runtime/testing/sampleSize.ts';
import { FAMILIES } from './pairs/quality.ts';
import { aCluster, expected, isOfOneFamily, someFaults } from './testing/faultSets.ts';
import { seeded } from './testing/random.ts';
import { clusterOf, type SimFault } from './testing/simCluster.ts';
import { BEGINS, ENDS, INTERVAL, timeline } from './testing/timeline.ts';

/** No measure of speed: alone, the longest takes 70 s, and several times as long on a machine in other use. */
const LONG_MS = 600_000;
/** Clusters above this size take long, and have more observers, so they are easier. */
const MOST_NODES = sampleSize({ quick: 9, full: 16 });
/** With how many seeds a cluster and its fault are drawn. About half of them count, and of the quick sample 25. */
const SEEDS = sampleSize({ quick: 60, full: 400 });
/** Clusters for each fault, with a dead address family. Each of the quick sample counts. */
const CLUSTERS = sampleSize({ quick: 3, full: 40 });
/** From the evaluation to the status, on average: the operator asks every 5 s, and the server evaluates once a second. */
const ASKED_WITHIN = 3;
/** Two intervals and 5 s. */
const LIMIT = 2 * INTERVAL + 5 - ASKED_WITHIN;

/** A fault that is found by its class and subject when all agents have measured it. Undefined for other seeds. */
function outcomeOf(seed: number) {
  const random = seeded(seed);
  const cluster = aCluster(random);
  const [fault] = someFaults(cluster, random);
  if (fault === undefined || cluster.nodes.length > MOST_NODES) return undefined;
  const wanted = expected(fault);
  const { moments, whole } = timeline(cluster, fault, random);
  if (wanted === undefined || whole.join() !== wanted) return undefined;
  const wrong = moments.filter(({ found }) => found.some((one) => one !== wanted));
  const found = moments.find((moment) => moment.found.includes(wanted));
  const last = moments.findLast((moment) => moment.found.length > 0);
  return {
    ...{ seed, nodes: cluster.nodes.length, serverNode: cluster.serverNode, fault, wanted, wrong },
    foundAfter: (found?.second ?? Infinity) - BEGINS,
    clearedAfter: (last?.second ?? Infinity) + 1 - ENDS,
  };
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

it(
  'names nothing else while a fault comes and goes, and is in time',
  () => {
    const outcomes = Array.from({ length: SEEDS }, (_, seed) => outcomeOf(seed + 1)).filter((one) => one !== undefined);
    const misled = outcomes.filter(({ wrong }) => wrong.length > 0);
    // A kubelet must be silent in two measurements in a row.
    const late = outcomes.filter(
      ({ foundAfter, fault }) => foundAfter > LIMIT + (fault.at === 'kubelet' ? INTERVAL : 0),
    );
    const long = outcomes.filter(({ clearedAfter }) => clearedAfter > LIMIT);
    const middle = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
    console.log(
      [
        `${outcomes.length} faults, ${outcomes.filter(({ fault }) => isOfOneFamily(fault)).length} of one address family, interval ${INTERVAL} s`,
        `something else was named for a moment: ${share(misled.length, outcomes.length)}`,
        `found after ${middle(outcomes.map((one) => one.foundAfter))} s (median), later than ${LIMIT} s: ${share(late.length, outcomes.length)}`,
        `cleared after ${middle(outcomes.map((one) => one.clearedAfter))} s (median), later than ${LIMIT} s: ${share(long.length, outcomes.length)}`,
      ].join('\n'),
    );
    if (process.env.SHOW_WRONG !== undefined) {
      for (const { wrong, fault, ...one } of [...misled, ...late, ...long].slice(0, 40)) {
        console.log(JSON.stringify(one), JSON.stringify(fault));
        for (const { second, found } of wrong.slice(0, 6))
          console.log('  ', second - BEGINS, second - ENDS, found.join('; '));
      }
    }
    expect(outcomes.length).toBeGreaterThan(sampleSize({ quick: 24, full: 200 }));
    expect(outcomes.filter(({ fault }) => isOfOneFamily(fault)).length).toBeGreaterThan(
      sampleSize({ quick: 2, full: 20 }),
    );
    // Of the quick sample that is none.
    expect(misled.length / outcomes.length).toBeLessThanOrEqual(0.02);
    expect(late.length / outcomes.length).toBeLessThanOrEqual(0.02);
    expect(long.length / outcomes.length).toBeLessThanOrEqual(0.02);
  },
  LONG_MS,
);

const ONE_FAMILY: SimFault = { at: 'cluster', does: 'cut', families: ['IPv6'] };

/** Returns the findings other than the fault in a cluster in which one address family is dead all the time. */
function besideOneFamily(fault: SimFault, seed: number) {
  const random = seeded(seed);
  const [size, zones, overlay] = [4 + Math.floor(random() * 9), 1 + Math.floor(random() * 2), random() < 0.5];
  const cluster = clusterOf(size, zones, { families: FAMILIES, overlay });
  const wanted = expected(fault)!;
  const { moments, whole, always } = timeline(cluster, fault, random, [ONE_FAMILY]);
  if (whole.join() !== [...always, wanted].sort().join()) return undefined;
  const others = moments.map(({ second, found }) => ({
    second,
    others: found.filter((one) => one !== wanted && !always.includes(one)),
  }));
  return { wanted, wrong: others.filter((one) => one.others.length > 0) };
}

/** Without the direction of a link. */
function placeOf(finding: string): string {
  return finding
    .split(/ (?:<?-> )?/)
    .sort()
    .join(' ');
}

it.each<[string, SimFault]>([
  ['a node', { at: 'node', node: 'node2', does: 'cut' }],
  ['its pod network', { at: 'node', node: 'node2', planes: ['Pod'], does: 'cut' }],
  ['its host network', { at: 'node', node: 'node2', planes: ['Host'], does: 'cut' }],
  ['a link', { at: 'link', from: 'node2', to: 'node3', does: 'cut' }],
  ['a link one way', { at: 'link', from: 'node2', to: 'node3', oneWay: true, does: 'cut' }],
])(
  'names nothing else, nor an agent that is late, while one address family is dead and %s is cut',
  (_, fault) => {
    const outcomes = Array.from({ length: CLUSTERS }, (__, seed) => besideOneFamily(fault, seed + 1));
    const counted = outcomes.filter((one) => one !== undefined);
    expect(counted.length).toBeGreaterThan(sampleSize({ quick: 2, full: 30 }));
    const wrong = counted.flatMap((one) => one.wrong);
    expect(wrong.filter(({ second }) => second < ENDS)).toEqual([]);
    // When a link works again, one agent may hear the other before the other reports the same: one direction is named.
    const places = wrong.flatMap(({ others }) => others.map(placeOf));
    expect(places.filter((place) => place !== placeOf(expected(fault)!))).toEqual([]);
  },
  LONG_MS,
);

it('names no agent that is late when the large packets that its reports need pass again', () => {
  const cluster = clusterOf(5, 1, { overlay: true, largeReports: true });
  const fault: SimFault = { at: 'node', node: 'node2', does: { above: 1280 } };
  const seeds = sampleSize({ quick: 2, full: 20 });
  const all = Array.from({ length: seeds }, (_, seed) => timeline(cluster, fault, seeded(seed + 1)));
  const found = new Set(all.flatMap(({ moments }) => moments.flatMap((moment) => moment.found)));
  expect([...found].filter((one) => !one.startsWith('MTU '))).toEqual([]);
});

it.each([
  ['a smaller', 1_400],
  ['a larger', 9_000],
])('names the node, and none of its links, while its interface has %s MTU', (_, mtu) => {
  const fault: SimFault = { at: 'interface', node: 'node2', mtu };
  const seeds = sampleSize({ quick: 2, full: 40 });
  const all = Array.from({ length: seeds }, (_, seed) => timeline(clusterOf(5), fault, seeded(seed + 1)));
  expect(all.map(({ whole }) => whole.join())).toEqual(all.map(() => 'MTU node2'));
  const misled = all.filter(({ moments }) => moments.some(({ found }) => found.some((one) => one !== 'MTU node2')));
  // A pair that lost two datagrams by chance was not Ok before, so it is not known since when it loses large packets.
  expect(misled.length).toBeLessThanOrEqual(sampleSize({ quick: 0, full: 4 }));
});
