import { startFixture, type Fixture } from './fixture.ts';
import { createUser } from './pki.ts';
import { ConnectionCount } from './connectionCount.ts';
import { seconds, sleep, until } from './measured.ts';
import { metricsOf } from './metricsOf.ts';
import { startToxiproxy, type Toxiproxy } from './toxiproxy.ts';
import { unfitKey } from './unfitKey.ts';

/** Faults of both links, to the API server and to Prometheus. */
const LATENCY_MS = 500;
const RESET_SHARE = 0.05;
const KEY = unfitKey('web');
const LINKS = ['api', 'prometheus'];

/** Measurements while the links were bad, in milliseconds. */
export interface Seen {
  /** Connections over the links, and how many of them were reset. */
  connections: number;
  resets: number;
  passes: number;
  /** Passes without a response, and requests to the API server without a response. */
  failedPasses: number;
  brokenRequests: number;
  /** Longest time from the end of a pass to the end of the next one. */
  longestPassGapMs: number;
  /** Longest time for which a condition of the TrafficWatch was wrong, and the last such condition. */
  longestErrorMs: number;
  lastError: string;
  /** From each change of the traffic to the change of the label. */
  labelsAfterMs: number[];
  /** Label changes of nodes whose traffic did not change. */
  strayFlips: number;
}

/** An operator over bad links that has already decided all nodes. */
export interface BadLinks {
  /**
   * Runs for the given time, and longer until a connection was reset. Changes the traffic of one node repeatedly, and
   * observes the operator over good links.
   * @throws Error if no connection was reset within twice the time
   */
  watch(ms: number): Promise<Seen>;
  stop(): Promise<void>;
}

/**
 * @param intervalMs between two passes; the traffic of a node changes every fifth pass
 * @param windowSeconds of the rates, with a scrape each second
 */
export async function startBadLinks(intervalMs: number, windowSeconds = 5): Promise<BadLinks> {
  // Only the links are to cause errors: scrapes each second may be late or fail on a busy machine.
  const f = await startFixture({ nodes: ['n1', 'n2', 'n3'], withTimes: true });
  f.exporter.setPercent('n2', 60);
  const toxiproxy = await startToxiproxy();
  const api = await toxiproxy.link('api', new URL(f.controlPlane.url).host);
  const prometheus = await toxiproxy.link('prometheus', new URL(f.prometheusUrl).host);
  const kubeconfig = await createUser(f.controlPlane.directory, `https://${api}`, 'far', ['system:masters']);
  await spoil(toxiproxy, 0);
  const over = { kubeconfig, prometheusUrl: `http://${prometheus}` };
  await f.startOperator([`--interval=${intervalMs / 1000}s`, `--window=${windowSeconds}s`], over);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  const hasDecided = async (): Promise<boolean> => (await f.labels(KEY)).n3 === 'false' && (await isHealthy(f)).healthy;
  await until('all is decided over slow links', hasDecided, { timeout: 120_000 });
  return {
    watch: async (ms) => {
      const count = new ConnectionCount([api, prometheus].map((link) => Number(link.split(':')[1])));
      try {
        const time = new WatchTime(intervalMs, ms, () => count.found.ended > 0);
        const seen = await watch(f, toxiproxy, time);
        return { ...seen, connections: count.found.made, resets: count.found.ended };
      } finally {
        count.stop();
      }
    },
    stop: async () => {
      await f.stop();
      await toxiproxy.stop();
    },
  };
}

/**
 * Draws lots again for each connection. Otherwise a connection that stays open would never be reset. The toxic must
 * exist from the start of a connection: if it is added later, Toxiproxy closes the connection instead of resetting it.
 */
async function spoil(toxiproxy: Toxiproxy, share = RESET_SHARE): Promise<void> {
  for (const link of LINKS) {
    await toxiproxy.spoil(link, { type: 'latency', toxicity: 1, attributes: { latency: LATENCY_MS } });
    await toxiproxy.spoil(link, { type: 'reset_peer', toxicity: share, attributes: { timeout: LATENCY_MS / 2 } });
  }
}

async function isHealthy(f: Fixture): Promise<{ healthy: boolean; message: string }> {
  const conditions = (await f.watch('web')).status?.conditions ?? [];
  const good: Record<string, string> = { Reconciling: 'False', Stalled: 'False', NoFitNode: 'False' };
  const bad = conditions.filter(({ type, status }) => status !== (good[type] ?? 'True'));
  const message = bad.map(({ type, reason, message: text }) => `${type} ${reason}: ${text}`).join('; ');
  return { healthy: conditions.length > 0 && bad.length === 0, message };
}

/** The end of the observation: extended pass by pass while the expected event has not happened. */
class WatchTime {
  readonly intervalMs: number;
  readonly #latest: number;
  readonly #hasCome: () => boolean;
  #end: number;

  constructor(intervalMs: number, ms: number, hasCome: () => boolean) {
    this.intervalMs = intervalMs;
    this.#end = performance.now() + ms;
    // Lots: of 24 draws for three connections, none is hit once in forty runs; of 36 draws once in two hundred and fifty.
    this.#latest = this.#end + 2 * ms;
    this.#hasCome = hasCome;
  }

  /** Milliseconds; negative after the end. */
  get left(): number {
    return this.#end - performance.now();
  }

  /** Call once per pass. */
  prolong(): void {
    if (this.#hasCome() || this.left > this.intervalMs) return;
    if (this.#end > this.#latest) throw new Error('no connection was reset');
    this.#end += this.intervalMs;
  }
}

async function watch(f: Fixture, toxiproxy: Toxiproxy, time: WatchTime): Promise<Seen> {
  const seen: Seen = {
    connections: 0,
    resets: 0,
    passes: 0,
    failedPasses: 0,
    brokenRequests: 0,
    longestPassGapMs: 0,
    longestErrorMs: 0,
    lastError: '',
    labelsAfterMs: [],
    strayFlips: 0,
  };
  const before = await metricsOf(f.operator());
  const observers = [passGaps, errors, trafficToAndFro].map((observe) => observe(f, seen, time));
  while (time.left > 0) {
    await spoil(toxiproxy);
    await sleep(time.intervalMs);
    time.prolong();
  }
  await Promise.all(observers);
  const after = await metricsOf(f.operator());
  const grown = (name: string, labels?: Record<string, string>) => after.sum(name, labels) - before.sum(name, labels);
  seen.passes = grown('passes_total');
  seen.failedPasses = seen.passes - grown('passes_total', { result: 'ok' });
  seen.brokenRequests = grown('api_requests_total') - sumOfAnswered(grown);
  return seen;
}

function sumOfAnswered(grown: (name: string, labels: Record<string, string>) => number): number {
  return ['200', '201', '404', '409'].reduce((sum, code) => sum + grown('api_requests_total', { code }), 0);
}

async function passGaps(f: Fixture, seen: Seen, time: WatchTime): Promise<void> {
  let last = performance.now();
  let passes = (await metricsOf(f.operator())).sum('passes_total');
  while (time.left > 0) {
    const now = (await metricsOf(f.operator())).sum('passes_total');
    seen.longestPassGapMs = Math.max(seen.longestPassGapMs, performance.now() - last);
    if (now !== passes) last = performance.now();
    passes = now;
    await sleep(200);
  }
}

async function errors(f: Fixture, seen: Seen, time: WatchTime): Promise<void> {
  let since: number | undefined;
  while (time.left > 0) {
    const { healthy, message } = await isHealthy(f);
    if (healthy) since = undefined;
    else {
      since ??= performance.now();
      seen.lastError = message;
      seen.longestErrorMs = Math.max(seen.longestErrorMs, performance.now() - since);
    }
    await sleep(200);
  }
}

async function trafficToAndFro(f: Fixture, seen: Seen, time: WatchTime): Promise<void> {
  const { intervalMs } = time;
  for (let full = true; time.left > 5 * intervalMs; full = !full) {
    f.exporter.setPercent('n3', full ? 90 : 1);
    const changed = performance.now();
    let labels: Record<string, string>;
    do {
      await sleep(100);
      labels = await f.labels(KEY);
      if (labels.n1 !== 'false' || labels.n2 !== 'true') seen.strayFlips++;
      if (performance.now() - changed > 20 * intervalMs) throw new Error('the label does not follow the traffic');
    } while (labels.n3 !== String(full));
    seen.labelsAfterMs.push(performance.now() - changed);
    while (performance.now() < changed + 5 * intervalMs) await sleep(200);
  }
}

/**
 * How long an error may stay in the status: until the next pass has ended and its status was written, over slow links.
 */
const longestErrorOf = (intervalMs: number): number => intervalMs + 4 * LATENCY_MS;

/** The broken promises, as text; empty if all were kept. */
export function brokenPromises(seen: Seen, intervalMs: number): string[] {
  const promises: [boolean, string][] = [
    [seen.resets > 0, 'a connection was reset'],
    [seen.longestPassGapMs < 3 * intervalMs, 'passes are delayed threefold at most'],
    [seen.longestErrorMs <= longestErrorOf(intervalMs), 'no error lasts longer than a pass'],
    [seen.strayFlips === 0, 'no label changes without its traffic'],
    [seen.labelsAfterMs.length > 0, 'labels follow the traffic'],
  ];
  return promises.filter(([isKept]) => !isKept).map(([, what]) => what);
}

/** The measurements as sentences. */
export function reportOf(seen: Seen, intervalMs: number): string[] {
  const labels = seen.labelsAfterMs;
  return [
    `links with ${LATENCY_MS} ms latency and a reset in one connection of ${1 / RESET_SHARE}, lots drawn again each pass of ${seconds(intervalMs)}`,
    `connections: ${seen.connections}, of which ${seen.resets} were reset`,
    `passes: ${seen.passes}, of which ${seen.failedPasses} found no answer; longest from one to the next ${seconds(seen.longestPassGapMs)}`,
    `requests to the API server that broke off: ${seen.brokenRequests}`,
    `labels followed ${labels.length} changes of the traffic, the slowest after ${seconds(Math.max(...labels))}; ${seen.strayFlips} stray flips`,
    `longest error in the status: ${seconds(seen.longestErrorMs)}${seen.lastError === '' ? '' : ` (last: ${seen.lastError})`}`,
  ];
}
