import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { ReportStore, type StoreBackend } from './reportStore.ts';
import { Reports, type AgentState } from '../reports/reports.ts';

const TTL_MS = 300_000;
const PACE_MS = 100;
const REFUSED = new Error('refused');
const report = (podname: string) => ({ report_interval: 60, nodename: 'n1', podname });

/** Keeps what is put, in calls of at most four agents. `fails` is thrown instead. */
class FakeBackend implements StoreBackend {
  readonly mostAtOnce = 4;
  readonly paceMs = PACE_MS;
  readonly puts: string[][] = [];
  readonly deletions: string[][] = [];
  stored: AgentState[] = [];
  fails: ((pods: string[]) => Error | undefined) | undefined;
  fitting = 4;

  list(): Promise<readonly AgentState[]> {
    this.#fail([]);
    return Promise.resolve(this.stored);
  }

  // oxlint-disable-next-line typescript/require-await -- rejects instead of throwing
  async put(states: readonly AgentState[]): Promise<readonly AgentState[]> {
    const written = states.slice(0, this.fitting);
    const pods = written.map((state) => state.report.podname);
    this.#fail(pods);
    this.puts.push(pods);
    this.stored.push(...written);
    return written;
  }

  delete(pods: readonly string[]): Promise<void> {
    this.deletions.push([...pods]);
    return Promise.resolve();
  }

  isRefusal(error: unknown): boolean {
    return error === REFUSED;
  }

  #fail(pods: string[]): void {
    const error = this.fails?.(pods);
    if (error !== undefined) throw error;
  }
}

let clock: FakeClock;
let reports: Reports;
let backend: FakeBackend;
let store: ReportStore;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  reports = new Reports(clock);
  backend = new FakeBackend();
  store = new ReportStore({ backend, reports, ttlMs: TTL_MS, clock, logger: createLogger('silent') });
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});

function run(): void {
  running = store.run(stop.signal);
}

function reportOf(...pods: string[]): void {
  for (const pod of pods) store.changed(reports.accept(report(pod)));
}

describe('a store', () => {
  it('writes several agents at once, each call a pace after the other', async () => {
    run();
    reportOf('a', 'b', 'c', 'd', 'e', 'f');
    await clock.advance(0);
    expect(backend.puts).toEqual([['a', 'b', 'c', 'd']]);
    await clock.advance(PACE_MS - 1);
    expect(backend.puts).toHaveLength(1);
    await clock.advance(1);
    expect(backend.puts[1]).toEqual(['e', 'f']);
  });

  it('writes again what did not fit', async () => {
    backend.fitting = 1;
    run();
    reportOf('a', 'b');
    await clock.advance(PACE_MS);
    expect(backend.puts).toEqual([['a'], ['b']]);
  });

  it('writes the same report after half a TTL, and not earlier', async () => {
    run();
    reportOf('a');
    await clock.advance(TTL_MS / 2 - 1);
    reportOf('a');
    await clock.advance(1);
    expect(backend.puts).toHaveLength(1);
    reportOf('a');
    await clock.advance(0);
    expect(backend.puts).toHaveLength(2);
  });

  it('restores counters and takes no agent for absent', async () => {
    backend.stored = [{ report: report('a'), reportCount: 7, errorCount: 2 }];
    run();
    expect(store.problem).toBe('the stored reports are not read yet');
    await clock.advance(0);
    expect(store.problem).toBeUndefined();
    expect(reports.get('a')).toMatchObject({ reportCount: 7, errorCount: 2 });
    expect(reports.ageOf('a')?.ageMs).toBe(0);
  });

  it('says why it cannot read, until it can', async () => {
    backend.fails = () => new Error('away');
    run();
    await clock.advance(600_000);
    expect(store.problem).toBe('the stored reports are not read yet: away');
    backend.fails = undefined;
    await clock.advance(30_000);
    expect(store.problem).toBeUndefined();
  });

  it('deletes agents that are gone', async () => {
    run();
    reportOf('a', 'b');
    await clock.advance(PACE_MS);
    store.gone('a');
    store.gone('unknown');
    await clock.advance(0);
    expect(backend.deletions).toEqual([['a']]);
    expect([...store.pods()]).toEqual(['b']);
  });
});

describe('a store that is away for ten minutes', () => {
  it('gets every agent that reported meanwhile, with its counter, within the longest pause', async () => {
    run();
    reportOf('a', 'b');
    await clock.advance(0);
    backend.fails = () => new Error('away');
    for (let minute = 0; minute < 10; minute++) {
      await clock.advance(60_000);
      reportOf('a', 'b');
    }
    backend.fails = undefined;
    backend.puts.length = 0;
    await clock.advance(30_000);
    expect(backend.puts).toEqual([['a', 'b']]);
    expect(backend.stored.at(-1)).toMatchObject({ reportCount: 11 });
  });
});

describe('a store that refuses', () => {
  it('one agent of many, takes all others', async () => {
    backend.fails = (pods) => (pods.includes('b') ? REFUSED : undefined);
    run();
    reportOf('a', 'b', 'c', 'd');
    await clock.advance(1_000);
    expect(backend.puts.flat().sort()).toEqual(['a', 'c', 'd']);
    backend.fails = undefined;
    reportOf('b');
    await clock.advance(1_000);
    expect(backend.puts.flat()).toContain('b');
  });

  it('for a while, takes as many at once as before afterwards', async () => {
    backend.fails = (pods) => (pods.length > 0 ? REFUSED : undefined);
    run();
    reportOf('a', 'b', 'c', 'd');
    await clock.advance(1_000);
    backend.fails = undefined;
    reportOf('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k');
    await clock.advance(1_000);
    expect(backend.puts.map((pods) => pods.length)).toEqual([1, 2, 4, 4]);
  });
});
