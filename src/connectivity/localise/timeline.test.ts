import { expect, it } from 'vitest';
import { aCluster, expected, isOfOneFamily, someFaults } from './testing/faultSets.ts';
import { seeded } from './testing/random.ts';
import { BEGINS, ENDS, INTERVAL, timeline } from './testing/timeline.ts';

/** Clusters above this size take long, and have more observers, so they are easier. */
const MOST_NODES = 16;
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
  if (whole.join() !== wanted) return undefined;
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

it('names nothing else while a fault comes and goes, and is in time', () => {
  const outcomes = Array.from({ length: 400 }, (_, seed) => outcomeOf(seed + 1)).filter((one) => one !== undefined);
  const misled = outcomes.filter(({ wrong }) => wrong.length > 0);
  const late = outcomes.filter(({ foundAfter }) => foundAfter > LIMIT);
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
  expect(outcomes.length).toBeGreaterThan(200);
  expect(outcomes.filter(({ fault }) => isOfOneFamily(fault)).length).toBeGreaterThan(20);
  expect(misled.length / outcomes.length).toBeLessThanOrEqual(0.02);
  expect(late.length / outcomes.length).toBeLessThanOrEqual(0.02);
  expect(long.length / outcomes.length).toBeLessThanOrEqual(0.02);
}, 120_000);
