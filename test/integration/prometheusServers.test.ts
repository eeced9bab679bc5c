import { systemClock } from '../../src/runtime/process/clock.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { NO_READINGS } from '../../src/usage/evaluate/reading.ts';
import { createUsageFeed } from '../../src/usage/pass/feed.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { UsageQuery } from '../../src/usage/pass/queries.ts';
import type { Snapshot } from '../../src/usage/evaluate/snapshot.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { timestamped } from '../harness/syntheticExporter.ts';
import { nodeLines, NODES, PERCENTS, SPEED, startServersWorld, Texts, WINDOW_SECONDS } from './serversWorld.ts';
import type { ServersWorld } from './serversWorld.ts';
import { expectAllMeasured, numberOf, passWhen, type Question } from './serversQuestion.ts';
import { deviceLines } from '../harness/usageExporters.ts';
import { expectPercent } from './usageSnapshot.ts';

/** Prometheus and the servers that answer its queries, each a real one. */
const SERVERS = ['Prometheus', 'VictoriaMetrics', 'Thanos Query'] as const;
type Server = (typeof SERVERS)[number];
/** Scrapes of a full window, of which one may be late. */
const FULL_WINDOW = 7;
const REPLICAS = { replicaLabels: ['replica'] };
const KNOWN = new Map(Object.entries(NODES));
/** Two of the eight scrapes of a window can be late. A window that is half full would change the percent by half. */
const MOST_CHANGE = 0.3;
/** Runs of a test whose scrapes were late. */
const MOST_RUNS = 5;
/** The window, two scrapes, and what a server shows late. */
const ENDED_WITHIN_MS = 1000 * (WINDOW_SECONDS + 10);

let world: ServersWorld;

beforeAll(async () => {
  world = await startServersWorld();
  // While windows fill, the sum of two replicas is for a moment what one gives later. Each has been full once: on a busy machine, some window is not.
  const inWindow = `count_over_time(node_network_transmit_bytes_total[${WINDOW_SECONDS}s])`;
  const scrapes = `min(max_over_time(${inWindow}[60s:500ms]))`;
  for (const url of [...Object.values(world.servers), world.thanos.plainUrl]) {
    await until(`the windows of ${url} are full`, async () => (await numberOf(url, scrapes)) >= FULL_WINDOW);
  }
});
afterAll(() => world.stop());
afterEach(() => {
  Object.assign(world.texts, new Texts());
});

/** The nodes of the job `pair` in one store, or of two Prometheus behind Thanos. */
function pairIn(server: Server): Question {
  return server === 'Thanos Query' ? { url: world.thanos.plainUrl } : { url: world.servers[server], job: 'pair' };
}

describe.each(SERVERS)('%s', (server) => {
  it('gives each node its percent, without warnings and errors, whatever the headers', async () => {
    const headers = { 'X-Scope-OrgID': 'team-a', 'THANOS-TENANT': 'team-a' };
    const { warnings, infos, unmatchedSeries } = await passWhen(
      { url: world.servers[server], headers },
      expectAllMeasured,
    );
    expect({ warnings, infos, unmatchedSeries }).toEqual({ warnings: [], infos: [], unmatchedSeries: 0 });
  });

  it('gives the same percent when it deduplicates and the replica label is set, too', async () => {
    await passWhen({ url: world.servers[server], query: REPLICAS }, expectAllMeasured);
  });

  it('gives the percent of a node that is known by its instance', async () => {
    const nodes = { a: { addresses: ['10.0.0.1'] } };
    await passWhen({ url: world.servers[server], job: 'instances', nodes }, ({ nodes }) =>
      expectPercent(nodes.get('a'), 10),
    );
  });

  it('has an ambiguous node for each pair of series, and the message names the label and the flag', async () => {
    const { nodes } = await passWhen(pairIn(server), ({ nodes }) => {
      for (const name of Object.keys(NODES)) expect(nodes.get(name)).toMatchObject({ reason: 'AmbiguousSeries' });
    });
    const { percent, message } = nodes.get('n1')!;
    expect(percent).toBeUndefined();
    expect(message).toContain('they differ in the label replica: ');
    expect(message).toContain('set --prometheus-replica-label=replica ');
  });

  it('gives a pair of series the percent of one, with the replica label', async () => {
    const [pair, one] = await Promise.all([
      passWhen({ ...pairIn(server), query: REPLICAS }, expectAllMeasured),
      passWhen({ url: world.servers.Prometheus }, expectAllMeasured),
    ]);
    const capacities = ({ nodes }: Snapshot) => [...nodes.values()].map((node) => node.capacityBytesPerSecond);
    expect(capacities(pair)).toEqual(capacities(one));
    expect(pair.warnings).toEqual([]);
  });

  it('tells which devices became slower', async () => {
    const node = `slower-${server}`;
    const question: Question = { url: world.servers[server], job: 'changing', nodes: { [node]: {} } };
    const { nodes } = await passWhen(question, ({ nodes }) => {
      const usage = nodes.get(node);
      if (usage?.reason === 'Measured') {
        world.texts.changing[node] = (s) => nodeLines(node, s, 10, { speed: SPEED / 2 });
      }
      expect(usage?.drop).toBeDefined();
    });
    expect(nodes.get(node)?.drop).toEqual({ fromBytesPerSecond: SPEED, devices: ['eth0'] });
  });
});

describe('earlier passes', () => {
  it.each([
    ['Prometheus', {}],
    ['VictoriaMetrics', {}],
    ['Thanos Query', {}],
    ['Thanos Query', REPLICAS],
  ] as const)('are read from %s, with %j', async (server, query) => {
    const url = server === 'Thanos Query' && 'replicaLabels' in query ? world.thanos.plainUrl : world.servers[server];
    await measuredPasses({ url, query }, 4);
  });
});

/** Awaits that each of the last `depth` passes of a feed measures all nodes. One late scrape makes passes without. */
async function measuredPasses({ url, query }: Question, depth: number): Promise<void> {
  const stop = new AbortController();
  const settings = {
    windowSeconds: WINDOW_SECONDS,
    matchers: [{ name: 'job', op: '=' as const, value: 'nodes' }],
    ...query,
  };
  const feed = createUsageFeed({
    endpoint: { url },
    query: () => settings,
    intervalMs: 500,
    deadlineMs: 30_000,
    nodes: () => KNOWN,
    clock: systemClock,
    logger: createLogger('silent'),
  });
  feed.follow({ readings: NO_READINGS, passesOf: () => depth });
  const running = feed.run(stop.signal);
  try {
    await vi.waitFor(
      () => {
        expect(feed.passes).toHaveLength(depth);
        for (const pass of feed.passes) expectAllMeasured(pass);
      },
      { timeout: 90_000, interval: 100 },
    );
  } finally {
    stop.abort();
    await running;
  }
}

/**
 * Passes until the node has no percent. Returns for how long it was measured after `since` (of Date.now()) by the time of the
 * answers, however late they came, its percents and its reasons.
 */
async function untilUnmeasured(question: Question, node: string, since: number) {
  const seen = { measuredMs: 0, percents: [] as number[], reasons: [] as string[] };
  await passWhen({ ...question, nodes: { [node]: {} } }, ({ nodes, timeSeconds }) => {
    const { reason, percent } = nodes.get(node)!;
    if (seen.reasons.at(-1) !== reason) seen.reasons.push(reason);
    if (percent !== undefined) seen.percents.push(percent);
    if (reason === 'Measured') seen.measuredMs = timeSeconds! * 1000 - since;
    else expect(percent).toBeUndefined();
    expect(reason).toMatch(/^(?:StaleSamples|NoSeries)$/);
  });
  return seen;
}

it.each([
  ['a single sample, of which VictoriaMetrics says that its slope is 0', 'once', []],
  // VictoriaMetrics compares it with a sample before the range, and names the device twice: a single sample, and a fall.
  ['the first sample after a restart that took longer than the window', 'again', [2e9]],
])('gives no percent of %s', async (_, node, before) => {
  const url = world.servers.VictoriaMetrics;
  const labels = { node, device: 'eth0', job: 'once', instance: node };
  const facts = { speed: SPEED, flags: 4163 };
  const earlier = before.map((total) => timestamped(deviceLines(labels, { total, ...facts }), Date.now() - 150_000));
  const lines = [...earlier, deviceLines(labels, { total: 1e9, ...facts })].join('');
  const { status } = await fetch(`${url}/api/v1/import/prometheus`, { method: 'POST', body: lines });
  expect(status).toBeLessThan(300);
  const question: Question = { url, job: 'once', nodes: { [node]: {} }, query: { windowSeconds: 60 } };
  await passWhen(question, ({ nodes }) => {
    const { reason, message, transmitBytesTotal } = nodes.get(node)!;
    expect({ reason, transmitBytesTotal }).toEqual({ reason: 'StaleSamples', transmitBytesTotal: 1e9 });
    expect(message).toContain('fewer than two samples in the rate window for eth0');
  });
});

describe('a node whose counter falls', () => {
  it.each(SERVERS)('has no percent in %s until the window has samples after the fall only', async (server) => {
    const node = `falling-${server}`;
    const question: Question = { url: world.servers[server], job: 'falling', nodes: { [node]: {} } };
    let counted = 0;
    let falls = -1;
    /** Counts from 0, so that the counter before the fall is not much larger than what a window adds. */
    const begin = (): void => {
      let begun: number | undefined;
      falls += 1;
      world.texts.falling[node] = (s) => {
        counted = s - (begun ??= s);
        return nodeLines(node, s, 30, { total: (counted * SPEED * 30) / 100 });
      };
    };
    begin();
    const percents: number[] = [];
    const reasons = new Set<string>();
    await passWhen(question, ({ nodes }) => {
      const { percent, reason } = nodes.get(node)!;
      if (percent !== undefined) percents.push(percent);
      reasons.add(reason);
      // Behind Thanos a pass must come before the counter is as large again. A fall that no pass saw, as on a busy machine, is repeated.
      if (reason === 'Measured' && !reasons.has('CounterReset') && counted > 3 * WINDOW_SECONDS) begin();
      expect(reasons).toContain('CounterReset');
      expectPercent(nodes.get(node), 30);
    });
    // The sample after a fall may arrive between the queries of one pass.
    const wrong = percents.filter((percent) => Math.abs(percent / 30 - 1) > MOST_CHANGE);
    expect(wrong.length, `${falls} falls, and the percents ${wrong.join(', ')}`).toBeLessThanOrEqual(falls);
  });
});

describe('a node whose series end', () => {
  it.each([
    ['with staleness markers', 'changing', 'ending', SERVERS],
    ['without staleness markers', 'stored', 'stored', ['Prometheus', 'VictoriaMetrics']],
  ] as const)('%s has a percent for the window at most, then none', async (how, job, node, servers) => {
    const questions = servers.map((server) => ({ server, url: world.servers[server], job, query: REPLICAS }));
    const isMeasured = ({ nodes }: Snapshot) => expectPercent(nodes.get(node), 10);
    await Promise.all(questions.map((each) => passWhen({ ...each, nodes: { [node]: {} } }, isMeasured)));
    const ended = Date.now();
    const nothing = () => '';
    if (job === 'changing') world.texts.changing[node] = nothing;
    else world.texts.stored = { a: nothing, b: nothing };
    await Promise.all(
      questions.map(async (each) => {
        const { measuredMs, percents, reasons } = await untilUnmeasured(each, node, ended);
        measured(
          `${each.server}: a node whose series end ${how} has a percent for ${seconds(measuredMs)}: ${reasons.join(', ')}`,
        );
        expect(measuredMs).toBeLessThan(ENDED_WITHIN_MS);
        expect(percents.filter((percent) => Math.abs(percent / 10 - 1) > MOST_CHANGE)).toEqual([]);
      }),
    );
  });
});

describe.each(['Prometheus', 'VictoriaMetrics'] as const)('a replica that stops writing to %s', (server) => {
  it('keeps its series for minutes, and the speed of the other replica counts', async () => {
    const begin = Date.now() / 1000;
    const nodes = { stored: {} };
    const question: Question = { url: world.servers[server], job: 'stored', nodes, query: REPLICAS };
    await passWhen(question, ({ nodes }) => expectPercent(nodes.get('stored'), 10));
    const series = 'node_network_speed_bytes{job="stored"}';
    // One of both is enough for a pass, and series of an earlier test are found for minutes: both have to write now.
    const writing = (): Promise<number> => numberOf(question.url, `count(timestamp(${series}) > ${begin})`);
    await vi.waitFor(async () => expect(await writing()).toBe(2), { timeout: 90_000, interval: 200 });
    world.texts.stored = { a: () => '', b: (s) => nodeLines('stored', s, 10, { speed: SPEED / 2 }) };
    const { nodes: found } = await passWhen(question, ({ nodes }) => expectPercent(nodes.get('stored'), 20));
    expect(found.get('stored')?.capacityBytesPerSecond).toBe(SPEED / 2);
    expect(await numberOf(question.url, `count(${series})`)).toBe(2);
  });
});

describe('a replica behind Thanos', () => {
  /** Collects percents and warnings of passes until `isOver`. */
  async function watched(url: string, query: Partial<UsageQuery>, isOver: () => boolean) {
    const seen = { low: Infinity, high: 0, unmeasured: new Set<string>(), warnings: new Set<string>() };
    await passWhen({ url, query }, ({ ok, nodes, warnings, error }) => {
      for (const [name, percent] of Object.entries(PERCENTS)) {
        const usage = nodes.get(name);
        if (usage?.percent === undefined) seen.unmeasured.add(usage?.reason ?? error?.reason ?? 'none');
        seen.low = Math.min(seen.low, (usage?.percent ?? percent) / percent);
        seen.high = Math.max(seen.high, (usage?.percent ?? percent) / percent);
      }
      for (const warning of warnings) seen.warnings.add(warning);
      expect([ok, isOver(), warnings]).toEqual([true, true, []]);
    });
    return seen;
  }

  /** Restarts a part of the replica `a`, without its samples. Returns what passes of both Thanos Query saw meanwhile. */
  async function watchedWhileRestarting(what: 'prometheus' | 'sidecar') {
    const { replicas, plainUrl, deduplicatedUrl } = world.thanos;
    const [replica] = replicas;
    await Promise.all([
      passWhen({ url: plainUrl, query: REPLICAS }, expectAllMeasured),
      passWhen({ url: deduplicatedUrl }, expectAllMeasured),
    ]);
    let isOver = false;
    const passes = Promise.all([watched(plainUrl, REPLICAS, () => isOver), watched(deduplicatedUrl, {}, () => isOver)]);
    await replica.stop(what);
    await until('Thanos lacks the replica', async () => (await scrapesOf('a')) === 0);
    await replica.start(what);
    // Its samples are gone: from its second scrape on, its window is partly full.
    await until('the window of the replica is full', async () => (await scrapesOf('a')) >= FULL_WINDOW);
    isOver = true;
    return passes;
  }

  /**
   * The same, with every scrape of the other replica in time. A scrape that takes longer than its interval of 500 ms, as
   * on a busy machine, ends the series of the only replica that is left. Such a run says nothing.
   */
  async function watchedUndisturbed(what: 'prometheus' | 'sidecar') {
    for (let run = 1; ; run++) {
      const started = performance.now();
      const passes = await watchedWhileRestarting(what);
      const period = `${Math.ceil((performance.now() - started) / 1000) + WINDOW_SECONDS}s`;
      const up = 'up{job="nodes",replica="b"}';
      const fewest = `min_over_time(sum_over_time(${up}[${WINDOW_SECONDS}s])[${period}:500ms])`;
      const scrapes = await numberOf(world.thanos.plainUrl, `min_over_time(${up}[${period}]) * ${fewest}`);
      if (scrapes >= FULL_WINDOW - 1 || run === MOST_RUNS) return passes;
      measured(`run ${run} is repeated: a window of the other replica had ${scrapes} scrapes`);
    }
  }

  it.each(['prometheus', 'sidecar'] as const)('whose %s restarts changes no percent', async (what) => {
    for (const [name, { low, high, unmeasured, warnings }] of Object.entries(await watchedUndisturbed(what))) {
      const text = `${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)} % of the true percent`;
      measured(
        `${['not deduplicated', 'deduplicated'][+name]}, ${what} of a replica restarts: ${text}; ${[...warnings].join(', ')}`,
      );
      if (what === 'prometheus') expect([...warnings].join('\n')).toContain('query Prometheus');
      expect([...unmeasured]).toEqual([]);
      expect(low).toBeGreaterThan(1 - MOST_CHANGE);
      expect(high).toBeLessThan(1 + MOST_CHANGE);
    }
  });

  it('leaves no percent when both are away, and a warning until Thanos no longer asks them', async () => {
    const { replicas, plainUrl } = world.thanos;
    const seen = new Set<string>();
    const gone = passWhen({ url: plainUrl, query: REPLICAS }, ({ ok, nodes, warnings }) => {
      for (const warning of warnings) seen.add(warning);
      const found = [...nodes.values()].map(({ reason, percent }) => [reason, percent]);
      expect([ok, found]).toEqual([true, found.map(() => ['NoSeries', undefined])]);
    });
    await Promise.all(replicas.map((replica) => replica.stop('sidecar')));
    await gone;
    expect([...seen].join('\n')).toContain('connection refused');
    await Promise.all(replicas.map((replica) => replica.start('sidecar')));
    await passWhen({ url: plainUrl, query: REPLICAS }, expectAllMeasured);
  });

  /** Number of scrapes of a replica in the window; 0 if Thanos does not see it. */
  function scrapesOf(replica: string): Promise<number> {
    const series = `node_network_transmit_bytes_total{job="nodes",replica="${replica}"}`;
    return numberOf(world.thanos.plainUrl, `min(count_over_time(${series}[${WINDOW_SECONDS}s]))`);
  }
});
