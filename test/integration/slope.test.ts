import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded } from '../../src/connectivity/localise/testing/random.ts';
import { sampleSize } from '../../src/runtime/testing/sampleSize.ts';
import { lateQuery, oldestSeconds, ratesQuery, zerosQuery, type UsageQuery } from '../../src/usage/pass/queries.ts';
import { fallMatters, LARGE, NEGLIGIBLE_BYTES, type Sample } from '../../src/usage/series/lateSamples.ts';
import { measured } from '../harness/measured.ts';
import { promtool } from './promtool.ts';

/**
 * Whatever samples Prometheus has of a node with constant traffic, its rate is right or there is none: evaluated by Prometheus itself, for
 * many nodes whose samples come at random times. Other times: SLOPE_SEED=$RANDOM make test ONLY=slopes
 */
const SEED = Number(process.env.SLOPE_SEED ?? 39);
const QUERY: UsageQuery = { windowSeconds: 120, matchers: [], excludedDevices: 'veth.*' };
/** The nodes of each rate window, seconds, have it in a label. */
const WINDOWS = [20, 60, 120, 300, 600];
const queryOf = (window: number): UsageQuery => ({
  ...{ ...QUERY, windowSeconds: window },
  matchers: [{ name: 'window', op: '=', value: String(window) }],
});
const COUNTER = 'node_network_transmit_bytes_total';
/** Evaluations begin at this second. Samples begin at 0. */
const BEGIN = 600;
const EVALUATIONS = [0, 3, 11, 19, 26, 44, 61, 87, 119, 150, 290, 560];
/** Samples end at this second. */
const END = BEGIN + 600;
/** Far from the true rate. */
const FAR = 0.1;

type Random = () => number;
/** The samples of one node: the second, and the counter as a multiple of the rate; undefined for a staleness marker. */
type Samples = readonly (readonly [second: number, count: number | undefined])[];

/** The window and the scrapes of a node. */
interface Pace {
  /** Seconds. */
  readonly window: number;
  /** Between scrapes, seconds. */
  readonly interval: number;
  /** Bytes per second. */
  readonly rate: number;
}

type Choose = (scrapes: Samples, random: Random, pace: Pace) => Samples;

/**
 * Nodes of each kind have samples every 1 to 75 s, at least four in a window, each up to a fifth of the interval late; one of twenty is missing, but
 * only one in a window.
 */
const KINDS: Readonly<Record<string, { of: Choose; hasRate: boolean }>> = {
  steady: { of: (scrapes) => scrapes, hasRate: true },
  /** Also a writer that is behind: at an evaluation, its newest samples are missing. */
  stopped: {
    of: (scrapes, random, { window }) => scrapes.filter(before(BEGIN + random() * window)),
    hasRate: false,
  },
  ended: {
    of: (scrapes, random, { window }) => {
      const last = scrapes.filter(before(BEGIN + random() * window));
      return [...last, [(last.at(-1)?.[0] ?? 0) + 1, undefined]];
    },
    hasRate: false,
  },
  gap: {
    of: (scrapes, random, { window }) => {
      const from = BEGIN - random() * window;
      const to = from + random() * 2 * window;
      return scrapes.filter(([second]) => second < from || second > to);
    },
    hasRate: false,
  },
  begun: {
    of: (scrapes, random, { window }) => scrapes.filter(([second]) => second > BEGIN - random() * window),
    hasRate: false,
  },
  restarted: { of: changedAt(({ second, at }) => second - at), hasRate: false },
  /** The counter before is smaller than what two windows add, as when the node or the device was restarted twice; two scrapes saw it at least. */
  restartedTwice: {
    of: (scrapes, random, { window, interval }) => {
      const first = BEGIN - 2 * window + random() * 2 * window;
      const again = first + 2.5 * interval + random() * 2 * window;
      return scrapes.map(([second, count = 0]) => [
        second,
        second < first ? count : second - (second < again ? first : again),
      ]);
    },
    hasRate: false,
  },
  /** The same, with a series that begins with the first start. */
  restartedSoon: {
    of: (scrapes, random, { window, interval }) => {
      const first = BEGIN - 2 * window + random() * 2 * window;
      const again = first + 2.5 * interval + random() * 2 * window;
      return scrapes
        .filter(([second]) => second >= first)
        .map(([second]) => [second, second - (second < again ? first : again)]);
    },
    hasRate: false,
  },
  /** Created again under its name, with a counter that is not 0. */
  recreated: { of: changedAt(({ second, at, share }) => share * 1e4 + second - at), hasRate: false },
  /** By up to what a window adds, but so much that two scrapes show it. */
  fallen: {
    of: changedAt(({ count, share, window, interval }) => count - 2.25 * interval - share * window),
    hasRate: false,
  },
  /** One sample is 0, or far too low. */
  dipped: {
    of: (scrapes, random) => {
      const at = Math.floor(random() * scrapes.length);
      const low = random() < 0.5 ? 0 : random();
      return scrapes.map(([second, count = 0], index) => [second, index === at ? low * count : count]);
    },
    hasRate: false,
  },
  /** A series that begins with an inserted 0, as of collectors that know when a counter was created. */
  zeroFirst: {
    of: (scrapes, random, { window }) => {
      const from = BEGIN - window + random() * 2 * window;
      return scrapes
        .filter(([second]) => second >= from)
        .map(([second, count = 0], index) => [second, index === 0 ? 0 : count]);
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
  /** By up to 64 KiB, within what is sent between two scrapes. */
  steppingBack: { of: changedAt(({ count, share, rate }) => count - (share * 65_536) / rate), hasRate: true },
};

interface Changed extends Pace {
  second: number;
  count: number;
  /** When it changes. */
  at: number;
  /** Random, below 1, and the same for all samples of a node. */
  share: number;
}

/** Another counter from a random second on, within a window before the evaluations or after their begin. */
function changedAt(countOf: (changed: Changed) => number): Choose {
  return (scrapes, random, pace) => {
    const at = BEGIN - pace.window + random() * 2 * pace.window;
    const share = random();
    return scrapes.map(([second, count = 0]) => {
      return [second, second < at ? count : countOf({ ...pace, second, count, at, share })];
    });
  };
}

const before =
  (end: number) =>
  ([second]: Samples[number]): boolean =>
    second < end;

function scrapesOf({ window, interval }: Pace, random: Random): Samples {
  const samples: [number, number][] = [];
  let missing = -Infinity;
  for (let due = random() * interval; due < END; due += interval) {
    const second = Math.round(due + (random() * interval) / 5);
    // A second has one sample: see valuesOf().
    if (second === samples.at(-1)?.[0]) continue;
    if (second - missing > window && random() < 0.05) missing = second;
    else samples.push([second, 1e4 + second]);
  }
  return samples;
}

/** In promtool's notation, a value for each second: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series */
function valuesOf(samples: Samples, rate: number): string {
  const bySecond = new Map(samples.map(([second, count]) => [second, count === undefined ? 'stale' : count * rate]));
  return Array.from({ length: END }, (_, second) => bySecond.get(second) ?? '_').join(' ');
}

const random = seeded(SEED);
const NODES = Object.entries(KINDS).flatMap(([kind, { of }]) =>
  Array.from({ length: sampleSize({ quick: 30, full: 100 }) }, (_, n) => {
    const window = WINDOWS[n % WINDOWS.length]!;
    const interval = Math.min(75, Math.round(window / [24, 12, 8, 4][Math.floor(random() * 4)]!));
    const pace = { window, interval, rate: 1e6 * (1 + Math.floor(random() * 1000)) };
    const samples = of(scrapesOf(pace, random), random, pace);
    const name = `${kind}-${n}`;
    return { ...pace, kind, name, labels: `{kind="${kind}",node="${name}",device="eth0",window="${window}"}`, samples };
  }),
);
const INPUT = NODES.flatMap(({ labels, rate, samples }) => [
  { series: `${COUNTER}${labels}`, values: valuesOf(samples, rate) },
  { series: `true_rate${labels}`, values: `${rate}x${END}` },
]);
/** The answers for the nodes of each window. */
const forAll = (expr: (query: UsageQuery) => string): string => WINDOWS.map(queryOf).map(expr).join(' or ');
/** The results of lateQuery for devices that have no rate. For devices that fell, the samples show it: see lateReader.ts. */
const NO_RATE = forAll((query) => `(${lateQuery(query)}) > 0`);
/** A negative rate is no figure: see percent.ts. */
const USED = `((${forAll((query) => ratesQuery(query))}) >= 0 unless on (node) (${NO_RATE}))`;

/** The nodes whose samples before an evaluation satisfy a test, as an expression. */
function nodesWhose(
  test: (samples: readonly Sample[], windowStart: number, node: (typeof NODES)[number]) => boolean,
  after: number,
): string {
  const now = BEGIN + after;
  const names = NODES.flatMap((node) => {
    const { name, samples, rate, window } = node;
    // The time span that samplesQueries asks for.
    const asked = now - 1.5 * window - 2;
    const valid = samples.filter(([second, count]) => second > asked && second <= now && count !== undefined);
    return test(
      valid.map(([second, count = 0]) => [second, count * rate]),
      now - window,
      node,
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
    (after) => `count by (kind) (${usedAt(after)} and on (node) true_rate{kind=~"${names}"})`,
    counts,
  );
});

it('is there, and right, if samples are late by up to three quarters of the window', async () => {
  const areLate: Parameters<typeof nodesWhose>[0] = (samples, windowStart, { kind, window }) => {
    const times = samples.flatMap(([second]) => (second > windowStart ? [second] : []));
    return (
      kind === 'stopped' && times.length > 1 && times.at(-1)! >= windowStart + window - oldestSeconds(queryOf(window))
    );
  };
  const late = (after: number): string => nodesWhose(areLate, after);
  await expectAnswers((after) => `${late(after)} unless on (node) ${usedAt(after)}`);
  // And some of them are late by half of the window.
  const half = (after: number): string => `${late(after)} and on (node) (time() - timestamp(${COUNTER}) > 60)`;
  await expect(expectAnswers(half)).rejects.toThrow(/stopped-\d+/);
});

it('is gone when the newest sample is older, also than a server shows it', async () => {
  const late = (after: number): string =>
    nodesWhose((samples, windowStart, { kind, window }) => {
      const [newest = Infinity] = samples.at(-1) ?? [];
      // A node whose series have ended has no facts either.
      return kind !== 'ended' && newest < windowStart + window - oldestSeconds(queryOf(window));
    }, after);
  await expectAnswers((after) => `${late(after)} and on (node) ${USED}`);
  // And there are such samples.
  await expect(expectAnswers(late)).rejects.toThrow(/stopped-\d+/);
});

it('is asked about for each counter that fell, however little', async () => {
  const late = forAll((query) => lateQuery(query));
  await expectAnswers((after) => `${nodesWhose(fell, after)} unless on (node) (${late})`);
});

const beginsAtZero = (samples: readonly Sample[], windowStart: number): boolean =>
  samples.length > 1 && samples[0]![1] === 0 && samples[0]![0] > windowStart && samples[1]![1] > NEGLIGIBLE_BYTES;

it('is asked about, and looks young, if its first sample is an inserted 0', async () => {
  const zeros = forAll((query) => zerosQuery(query, 'transmit', NEGLIGIBLE_BYTES));
  const young = forAll(
    (query) => `(${COUNTER}{window="${query.windowSeconds}"} < ${LARGE * query.windowSeconds} * ${ratesQuery(query)})`,
  );
  for (const asked of [zeros, young]) {
    await expectAnswers((after) => `${nodesWhose(beginsAtZero, after)} unless on (node) (${asked})`);
  }
});

it.each(['restartedTwice', 'restartedSoon', 'fallen', 'dipped', 'zeroFirst'])(
  'would be wrong without the samples of counters that fell: %s',
  async (kind) => {
    const rates = `(${USED} and on (node) true_rate{kind="${kind}"})`;
    await expect(expectAnswers(() => farFromTruth(rates))).rejects.toThrow(new RegExp(`${kind}-\\d+`));
  },
);

it('would be wrong with rate(), so these samples tell', async () => {
  const rate = `(${forAll(({ windowSeconds }) => `rate(${COUNTER}{window="${windowSeconds}"}[${windowSeconds}s])`)})`;
  await expect(expectAnswers(() => farFromTruth(rate))).rejects.toThrow(/stopped-\d+/);
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
  const both = `max without (replica) (deriv(${COUNTER}[${QUERY.windowSeconds}s]))`;
  const of = (expr: string) => ({ expr: `${expr} > 20`, eval_time: '181s' });
  const merged = { labels: '{node="a",instance="a:9100",device="eth0"}', value: 500 };
  const promql_expr_test = [
    { ...of(`(${ratesQuery(query)})`), exp_samples: [] },
    { ...of(both), exp_samples: [merged] },
  ];
  await evaluate({ interval: '1s', input_series, promql_expr_test });
});

it('is of a replica that the link can carry: a jump in the samples of another replica never wins', async () => {
  const labels = (replica: string): string => `{node="a",instance="a:9100",device="eth0",replica="${replica}"}`;
  const speed = 'node_network_speed_bytes';
  const samples = { a: '0+95x180', b: '0+95x100 1e9+95x79' };
  const input_series = Object.entries(samples).flatMap(([replica, values]) => [
    { series: COUNTER + labels(replica), values },
    { series: speed + labels(replica), values: '100x180' },
  ]);
  const query = { ...QUERY, replicaLabels: ['replica'] };
  const live = ratesQuery(query, { kind: 'named', nodes: { names: ['a'], instances: ['a:9100'] }, devices: ['eth0'] });
  const merged = { labels: '{node="a",instance="a:9100",device="eth0"}', value: 95 };
  const promql_expr_test = [
    { expr: live, eval_time: '180s', exp_samples: [merged] },
    // The query for all devices tells of the jump, so that the second query is sent.
    { expr: `(${ratesQuery(query)}) < 125`, eval_time: '180s', exp_samples: [] },
  ];
  await evaluate({ interval: '1s', input_series, promql_expr_test });
});

it.each([
  { seconds: 30, of: 0.84, why: 'a quarter' },
  { seconds: 40, of: 0.74, why: 'a third' },
])('is $of of the true rate once values were repeated for $why of the window', async ({ seconds, of }) => {
  const moved = 300 - seconds;
  const values = `0+100x${moved} ${100 * moved}x${seconds}`;
  const exp_samples = [{ labels: '{device="eth0"}', value: of }];
  const promql_expr_test = [{ expr: `round((${ratesQuery(QUERY)}) / 100, 0.01)`, eval_time: '300s', exp_samples }];
  await evaluate({ interval: '1s', input_series: [{ series: `${COUNTER}{device="eth0"}`, values }], promql_expr_test });
});

it('changes by less than a hundredth of a percent of 100 Mbit/s if a counter steps back by 64 KiB while nothing is sent', async () => {
  const labels = (step: number): string => `${COUNTER}{node="a",step="${step}"}`;
  const series = (step: number) => ({ series: labels(step), values: `2e9+1e6x60 2.06e9x29 ${2.06e9 - step}x29` });
  const deriv = (step: number): string => `deriv(${labels(step)}[120s])`;
  const expr = `abs(${deriv(65_536)} - on (node) ${deriv(0)}) > 1250`;
  const promql_expr_test = [{ expr, eval_time: '120s', exp_samples: [] }];
  await evaluate({ interval: '1s', input_series: [series(0), series(65_536)], promql_expr_test });
  const counts = [2e9, 2.03e9, 2.06e9, 2.06e9, 2.06e9 - 65_536];
  const samples = counts.map((count, index): Sample => [30 * index, count]);
  expect(fallMatters(samples, 0)).toBe(false);
});
