import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded } from '../../src/connectivity/localise/testing/random.ts';
import { sampleSize } from '../../src/runtime/testing/sampleSize.ts';
import { lateQuery, oldestSeconds, ratesQuery, type UsageQuery } from '../../src/usage/pass/queries.ts';
import { fallMatters, type Sample } from '../../src/usage/series/lateSamples.ts';
import { measured } from '../harness/measured.ts';
import { promtool } from './promtool.ts';

/**
 * Whatever samples Prometheus has of a node with constant traffic, its rate is right or there is none: evaluated by Prometheus itself, for
 * many nodes whose samples come at random times. SLOPE_SEED repeats a full run.
 */
const SEED = sampleSize({ quick: 39, full: Number(process.env.SLOPE_SEED ?? Date.now() % 1_000_000) });
const QUERY: UsageQuery = { windowSeconds: 120, matchers: [], excludedDevices: 'veth.*' };
const WINDOW = QUERY.windowSeconds;
const COUNTER = 'node_network_transmit_bytes_total';
/** Evaluations begin at this second. Samples begin at 0. */
const BEGIN = 600;
const EVALUATIONS = [0, 3, 11, 26, 44, 61, 87, 119, 150];
/** Far from the true rate. */
const FAR = 0.1;

type Random = () => number;
/** The samples of one node: the second, and the counter as a multiple of the rate; undefined for a staleness marker. */
type Samples = readonly (readonly [second: number, count: number | undefined])[];

/** @param interval between scrapes, seconds */
type Choose = (scrapes: Samples, random: Random, interval: number) => Samples;

/** Nodes of each kind have samples every 5 to 24 s, each up to a fifth of the interval late; one of twenty is missing, but only one in a window. */
const KINDS: Readonly<Record<string, { of: Choose; hasRate: boolean }>> = {
  steady: { of: (scrapes) => scrapes, hasRate: true },
  /** A writer that is behind, by half of the window, or by what is left with a missing scrape. */
  lagging: {
    of: (scrapes, random, interval) => {
      const lag = Math.floor(random() * Math.min(WINDOW / 2, oldestSeconds(QUERY) - 2.3 * interval));
      return scrapes.map(([second, count]) => [second + lag, count]);
    },
    hasRate: true,
  },
  stopped: { of: (scrapes, random) => scrapes.filter(before(BEGIN + random() * WINDOW)), hasRate: false },
  ended: {
    of: (scrapes, random) => {
      const last = scrapes.filter(before(BEGIN + random() * WINDOW));
      return [...last, [(last.at(-1)?.[0] ?? 0) + 1, undefined]];
    },
    hasRate: false,
  },
  gap: {
    of: (scrapes, random) => {
      const from = BEGIN - random() * WINDOW;
      const to = from + random() * 2 * WINDOW;
      return scrapes.filter(([second]) => second < from || second > to);
    },
    hasRate: false,
  },
  begun: { of: (scrapes, random) => scrapes.filter(([second]) => second > BEGIN - random() * WINDOW), hasRate: false },
  restarted: { of: changedAt(({ second, at }) => second - at), hasRate: false },
  /** The counter before is smaller than what two windows add, as when the node or the device was restarted twice; two scrapes saw it at least. */
  restartedTwice: {
    of: (scrapes, random, interval) => {
      const first = BEGIN - 2 * WINDOW + random() * 2 * WINDOW;
      const again = first + 2.5 * interval + random() * 2 * WINDOW;
      return scrapes.map(([second, count = 0]) => [
        second,
        second < first ? count : second - (second < again ? first : again),
      ]);
    },
    hasRate: false,
  },
  /** The same, with a series that begins with the first start. */
  restartedSoon: {
    of: (scrapes, random, interval) => {
      const first = BEGIN - 2 * WINDOW + random() * 2 * WINDOW;
      const again = first + 2.5 * interval + random() * 2 * WINDOW;
      return scrapes
        .filter(([second]) => second >= first)
        .map(([second]) => [second, second - (second < again ? first : again)]);
    },
    hasRate: false,
  },
  /** Created again under its name, with a counter that is not 0. */
  recreated: { of: changedAt(({ second, at, share }) => share * 1e4 + second - at), hasRate: false },
  /** By up to what a window adds, but so much that two scrapes show it. */
  fallen: { of: changedAt(({ count, share }) => count - 54 - share * WINDOW), hasRate: false },
  /** One sample is 0, or far too low. */
  dipped: {
    of: (scrapes, random) => {
      const at = Math.floor(random() * scrapes.length);
      const low = random() < 0.5 ? 0 : random();
      return scrapes.map(([second, count = 0], index) => [second, index === at ? low * count : count]);
    },
    hasRate: false,
  },
  /** One sample in the window at most. */
  single: {
    of: (scrapes, random) => {
      const at = Math.floor(random() * scrapes.length);
      return scrapes.filter((_, index) => index === at);
    },
    hasRate: false,
  },
  steppingBack: { of: changedAt(({ count }) => count - 1e-6), hasRate: true },
};

interface Changed {
  second: number;
  count: number;
  /** When it changes. */
  at: number;
  /** Random, below 1, and the same for all samples of a node. */
  share: number;
}

/** Another counter from a random second on, within the time of the evaluations or a window before. */
function changedAt(countOf: (changed: Changed) => number): Choose {
  return (scrapes, random) => {
    const at = BEGIN - WINDOW + random() * 2 * WINDOW;
    const share = random();
    return scrapes.map(([second, count = 0]) => [second, second < at ? count : countOf({ second, count, at, share })]);
  };
}

const before =
  (end: number) =>
  ([second]: Samples[number]): boolean =>
    second < end;

function scrapesOf(interval: number, random: Random): Samples {
  const samples: [number, number][] = [];
  let missing = -Infinity;
  for (let due = random() * interval; due < BEGIN + 2 * WINDOW; due += interval) {
    const second = Math.round(due + (random() * interval) / 5);
    if (second - missing > WINDOW && random() < 0.05) missing = second;
    else samples.push([second, 1e4 + second]);
  }
  return samples;
}

/** In promtool's notation, a value for each second: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series */
function valuesOf(samples: Samples, rate: number): string {
  const bySecond = new Map(samples.map(([second, count]) => [second, count === undefined ? 'stale' : count * rate]));
  return Array.from({ length: BEGIN + 3 * WINDOW }, (_, second) => bySecond.get(second) ?? '_').join(' ');
}

const random = seeded(SEED);
const NODES = Object.entries(KINDS).flatMap(([kind, { of }]) =>
  Array.from({ length: sampleSize({ quick: 30, full: 100 }) }, (_, n) => {
    const interval = [5, 10, 15, 24][Math.floor(random() * 4)]!;
    const samples = of(scrapesOf(interval, random), random, interval);
    const rate = 1e6 * (1 + Math.floor(random() * 1000));
    const name = `${kind}-${n}`;
    return { kind, name, labels: `{kind="${kind}",node="${name}",device="eth0"}`, rate, samples };
  }),
);
const INPUT = NODES.flatMap(({ labels, rate, samples }) => [
  { series: `${COUNTER}${labels}`, values: valuesOf(samples, rate) },
  { series: `true_rate${labels}`, values: `${rate}x${BEGIN + 3 * WINDOW}` },
]);
/** The results of lateQuery for devices that have no rate. For devices that fell, the samples show it: see lateReader.ts. */
const NO_RATE = `(${lateQuery(QUERY)}) > 0`;
/** A negative rate is no figure: see percent.ts. */
const USED = `((${ratesQuery(QUERY)}) >= 0 unless (${NO_RATE}))`;
/** The time span that samplesQueries asks for. */
const ASKED = 1.5 * WINDOW + 2;

/** The nodes whose samples before an evaluation satisfy a test, as an expression. */
function nodesWhose(test: (samples: readonly Sample[], windowStart: number) => boolean, after: number): string {
  const now = BEGIN + after;
  const names = NODES.flatMap(({ name, samples, rate }) => {
    const valid = samples.filter(([second, count]) => second > now - ASKED && second <= now && count !== undefined);
    return test(
      valid.map(([second, count = 0]) => [second, count * rate]),
      now - WINDOW,
    )
      ? [name]
      : [];
  });
  return `true_rate{node=~"${names.join('|')}"}`;
}

const fell = (samples: readonly Sample[]): boolean =>
  samples.some(([, count], index) => count < (samples[index - 1]?.[1] ?? 0));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-slope-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Rejects, with the answers, unless the query has this answer at each evaluation, so many seconds after BEGIN. */
async function expectAnswers(exprAt: (after: number) => string, exp_samples: readonly object[] = []): Promise<void> {
  const promql_expr_test = EVALUATIONS.map((after) => {
    return { expr: exprAt(after), exp_samples, eval_time: `${BEGIN + after}s` };
  });
  await evaluate({ interval: '1s', input_series: INPUT, promql_expr_test });
}

/** The rates that count. */
const usedAt = (after: number): string => `(${USED} unless on (node) ${nodesWhose(fallMatters, after)})`;

async function evaluate(test: object): Promise<void> {
  const file = join(directory, 'test.yml');
  // JSON is valid YAML. Samples are there until the last full interval of evaluations.
  await writeFile(file, JSON.stringify({ evaluation_interval: '10s', tests: [test] }));
  await promtool('test', 'rules', file);
}

const farFromTruth = (rates: string): string => `abs(${rates} / true_rate - 1) > ${FAR}`;

it('is within a tenth of the true rate, or there is none', async () => {
  measured(`seed ${SEED}`);
  await expectAnswers((after) => farFromTruth(usedAt(after)));
});

it('is there while the newest sample is not older than three quarters of the window', async () => {
  const kinds = Object.entries(KINDS).filter(([, { hasRate }]) => hasRate);
  const counts = kinds.map(([kind]) => ({
    labels: `{kind="${kind}"}`,
    value: NODES.filter((node) => node.kind === kind).length,
  }));
  const names = kinds.map(([kind]) => kind).join('|');
  await expectAnswers(
    (after) => `count by (kind) (${usedAt(after)} * on (kind, node, device) true_rate{kind=~"${names}"})`,
    counts,
  );
});

it('is gone when the newest sample is older', async () => {
  const late = `(time() - max by (node) (timestamp(${COUNTER})) > ${oldestSeconds(QUERY)})`;
  await expectAnswers(() => `${late} and on (node) ${USED}`);
  // And there are such samples.
  await expect(expectAnswers(() => late)).rejects.toThrow(/stopped-\d+/);
});

it('is asked about for each counter that fell, however little', async () => {
  await expectAnswers((after) => `${nodesWhose(fell, after)} unless on (node) (${lateQuery(QUERY)})`);
});

it.each(['restartedTwice', 'restartedSoon', 'fallen', 'dipped'])(
  'would be wrong without the samples of counters that fell: %s',
  async (kind) => {
    const rates = `(${USED} and on (node) true_rate{kind="${kind}"})`;
    await expect(expectAnswers(() => farFromTruth(rates))).rejects.toThrow(new RegExp(`${kind}-\\d+`));
  },
);

it('would be wrong with rate(), so these samples tell', async () => {
  const rate = `rate(${COUNTER}[${WINDOW}s])`;
  await expect(expectAnswers(() => farFromTruth(rate))).rejects.toThrow(/lagging-\d+/);
});

it('is of the series that still gets samples, if the pod of an exporter was replaced', async () => {
  const labels = (pod: number): string => `{node="a",instance="a:9100",device="eth0",pod="ne-${pod}"}`;
  const input_series = [
    { series: COUNTER + labels(1), values: '0+10x40 stale' },
    { series: COUNTER + labels(2), values: '_x44 500+20x30' },
  ];
  const live = ratesQuery(QUERY, { kind: 'live', nodes: { names: ['a'], instances: ['a:9100'] } });
  const of = (expr: string, pods: Record<number, number>) => ({
    expr,
    eval_time: '60s',
    exp_samples: Object.entries(pods).map(([pod, value]) => ({ labels: labels(Number(pod)), value })),
  });
  const promql_expr_test = [of(ratesQuery(QUERY), { 1: 10, 2: 20 }), of(live, { 2: 20 })];
  await evaluate({ interval: '1s', input_series, promql_expr_test });
});

it('is of the replica with the most samples: a replica that has just started has few', async () => {
  const labels = (replica: string): string => `{node="a",instance="a:9100",device="eth0",replica="${replica}"}`;
  const input_series = [
    // Bursts of 1,000 bytes, every 60 s.
    { series: COUNTER + labels('a'), values: '0+0x59 1000+0x59 2000+0x59 3000+0x59 4000+0x59' },
    { series: COUNTER + labels('b'), values: '_x178 2000 _ 3000' },
  ];
  const query = { ...QUERY, replicaLabels: ['replica'] };
  const both = `max without (replica) (deriv(${COUNTER}[${WINDOW}s]))`;
  const of = (expr: string) => ({ expr: `${expr} > 20`, eval_time: '181s' });
  const merged = { labels: '{node="a",instance="a:9100",device="eth0"}', value: 500 };
  const promql_expr_test = [
    { ...of(`(${ratesQuery(query)})`), exp_samples: [] },
    { ...of(both), exp_samples: [merged] },
  ];
  await evaluate({ interval: '1s', input_series, promql_expr_test });
});
