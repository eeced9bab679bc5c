import { beforeEach, describe, expect, it } from 'vitest';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { Housekeeping } from './housekeeping.ts';
import { Reports } from './reports.ts';
import { toAgentPod, type AgentPod } from '../pods/agentPod.ts';

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
