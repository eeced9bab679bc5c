import { beforeEach, describe, expect, it } from 'vitest';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import { FakeClock, type Clock } from '../../../runtime/process/clock.ts';
import { checkAgents, missedReports } from '../api/check.ts';
import { toAgentPod, type AgentPod } from '../pods/agentPod.ts';
import { Housekeeping, Reports } from './reports.ts';

const REPORT = { report_interval: 10, nodename: 'n1', podname: 'a' };
const HOUR_MS = 3_600_000;

describe('checkAgents', () => {
  const age = (ageMs: number) => ({ ageMs, intervalMs: 10_000 });
  const NONE = { absent: [], outdated: [], awaited: [] };
  const LATE = 40_001;

  it.each([
    ['no pods, no reports', [], {}, LATE, {}],
    ['a pod without a report', ['b', 'a'], {}, LATE, { absent: ['a', 'b'] }],
    ['a pod without a report, right after the start', ['b', 'a'], {}, 0, { awaited: ['a', 'b'] }],
    ['the same, two intervals after it', ['a'], {}, LATE - 1, { awaited: ['a'] }],
    ['a report of two intervals ago', ['a'], { a: age(20_000) }, LATE, {}],
    ['an older report', ['a'], { a: age(20_001) }, LATE, { outdated: ['a'] }],
    [
      'an older report and none, after the start',
      ['a', 'b'],
      { a: age(20_001) },
      0,
      { outdated: ['a'], awaited: ['b'] },
    ],
    ['a report without a pod', [], { a: age(90_000) }, LATE, {}],
  ])('%s', (_, pods, ages: Record<string, ReturnType<typeof age>>, sinceStartMs, found) => {
    const grace = { sinceStartMs, intervalMs: 20_000 };
    expect(checkAgents(pods, (pod) => ages[pod], grace)).toEqual({ ...NONE, ...found });
  });
});

describe('missedReports', () => {
  it.each([
    [0, 0],
    [19_999, 0],
    [20_000, 1],
    [29_999, 1],
    [30_000, 2],
  ])('after %i ms of an interval of 10 s: %i', (ageMs, missed) => {
    expect(missedReports({ ageMs, intervalMs: 10_000 })).toBe(missed);
  });
});

describe('Reports', () => {
  let clock: FakeClock;
  let reports: Reports;

  beforeEach(() => {
    clock = new FakeClock();
    reports = new Reports(clock);
  });

  it('counts reports, and each missing report once', async () => {
    reports.accept(REPORT);
    reports.accept(REPORT);
    await clock.advance(35_000);
    reports.countMissed();
    reports.countMissed();
    expect(reports.get('a')).toMatchObject({ reportCount: 2, errorCount: 2 });
    reports.accept(REPORT);
    await clock.advance(20_000);
    reports.countMissed();
    expect(reports.get('a')).toMatchObject({ reportCount: 3, errorCount: 3 });
  });

  it('takes no age from the wall clock, which may jump by an hour', () => {
    let jumpMs = 0;
    const jumping: Clock = {
      now: () => clock.now() + jumpMs,
      monotonic: () => clock.monotonic(),
      setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
      sleep: (ms, signal) => clock.sleep(ms, signal),
    };
    reports = new Reports(jumping);
    reports.accept(REPORT);
    for (jumpMs of [HOUR_MS, -HOUR_MS]) expect(reports.ageOf('a')).toEqual({ ageMs: 0, intervalMs: 10_000 });
  });

  it('takes a stored report for new, however old it says it is', () => {
    const last_updated = new Date(clock.now() - HOUR_MS).toISOString();
    reports.restore({ report: { ...REPORT, last_updated }, reportCount: 7, errorCount: 2 });
    expect(reports.ageOf('a')?.ageMs).toBe(0);
    reports.accept(REPORT);
    expect(reports.get('a')).toMatchObject({ reportCount: 8, errorCount: 2 });
  });

  it('adds what is stored to what was reported before it was read', () => {
    reports.accept({ ...REPORT, uptime: 5 });
    reports.restore({ report: { ...REPORT, uptime: 1 }, reportCount: 7, errorCount: 2 });
    expect(reports.get('a')).toMatchObject({ report: { uptime: 5 }, reportCount: 8, errorCount: 2 });
  });
});

const TTL_MS = 300_000;
const report = (podname: string) => ({ report_interval: 60, nodename: 'n1', podname });
const pod = (name: string): AgentPod => toAgentPod({ metadata: { name } });

describe('Housekeeping', () => {
  let clock: FakeClock;
  let reports: Reports;
  let listed: AgentPod[];
  let tell: (event: InformerEvent<AgentPod>) => void;
  let gone: string[];
  let refusal: { detail: string } | undefined;
  let housekeeping: Housekeeping;

  beforeEach(() => {
    clock = new FakeClock();
    reports = new Reports(clock);
    listed = [];
    gone = [];
    refusal = undefined;
    housekeeping = new Housekeeping({
      reports,
      ttlMs: TTL_MS,
      store: { pods: () => ['a'], gone: (name) => gone.push(name) },
      pods: {
        synced: true,
        get refusal() {
          return refusal as never;
        },
        lister: { list: () => listed } as never,
        subscribe: (listener) => {
          tell = listener;
          return () => undefined;
        },
      },
    });
  });

  it('forgets an agent whose pod was created and deleted between two runs', () => {
    tell({ type: 'add', object: pod('a') });
    reports.accept(report('a'));
    tell({ type: 'delete', object: pod('a') });
    housekeeping.run();
    expect([reports.get('a'), gone]).toEqual([undefined, ['a']]);
  });

  it('keeps the report of a pod that never existed until the TTL', async () => {
    reports.accept(report('a'));
    await clock.advance(TTL_MS);
    housekeeping.run();
    expect([reports.get('a')?.reportCount, gone]).toEqual([1, []]);
    await clock.advance(1);
    housekeeping.run();
    expect([reports.get('a'), gone]).toEqual([undefined, ['a']]);
  });

  it('keeps an agent whose pod was deleted and created again with its name', () => {
    reports.accept(report('a'));
    tell({ type: 'delete', object: pod('a') });
    tell({ type: 'add', object: pod('a') });
    listed = [pod('a')];
    housekeeping.run();
    expect([reports.get('a')?.reportCount, gone]).toEqual([1, []]);
  });

  it('forgets nothing while the pods cannot be read, and what was deleted meanwhile after that', () => {
    reports.accept(report('a'));
    refusal = { detail: 'forbidden' };
    tell({ type: 'delete', object: pod('a') });
    housekeeping.run();
    expect([reports.get('a')?.reportCount, gone]).toEqual([1, []]);
    refusal = undefined;
    housekeeping.run();
    expect([reports.get('a'), gone]).toEqual([undefined, ['a']]);
  });

  it('forgets an agent whose name a pod has that may not report', () => {
    reports.accept(report('a'));
    tell({ type: 'delete', object: pod('a') });
    const foreign = toAgentPod({ metadata: { name: 'a', namespace: 'tenant' } }, ['agents/agent']);
    tell({ type: 'add', object: foreign });
    listed = [foreign];
    housekeeping.run();
    expect([reports.get('a'), gone]).toEqual([undefined, ['a']]);
  });
});
