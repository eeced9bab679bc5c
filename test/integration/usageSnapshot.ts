import { expect } from 'vitest';
import { systemClock } from '../../src/runtime/process/clock.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { createUsageFeed } from '../../src/usage/pass/feed.ts';
import type { UsageFeedOptions } from '../../src/usage/pass/feed.ts';
import type { KnownNode } from '../../src/nodes/nodeNames.ts';
import type { NodeUsage } from '../../src/usage/evaluate/percent.ts';
import type { LabelMatcher } from '../../src/usage/pass/promql.ts';
import type { UsageQuery } from '../../src/usage/pass/queries.ts';
import type { Snapshot } from '../../src/usage/evaluate/snapshot.ts';

/** rate() extrapolates, and scrapes are late on a busy machine. */
const TOLERANCE = 0.15;

export function expectPercent(usage: NodeUsage | undefined, percent: number): void {
  expect(usage).toMatchObject({ reason: 'Measured' });
  expect(usage?.percent).toBeGreaterThan(percent * (1 - TOLERANCE));
  expect(usage?.percent).toBeLessThan(percent * (1 + TOLERANCE));
}

/** The query of a test. */
export interface Asked {
  url: string;
  job?: string;
  nodes: Record<string, KnownNode>;
  query?: Partial<UsageQuery>;
  options?: Partial<UsageFeedOptions>;
}

/** Runs a feed until `satisfied` no longer throws on its current and previous snapshot, 90 s at most. */
export async function snapshotWhen(
  { url, job, nodes, query, options }: Asked,
  satisfied: (current: Snapshot, previous?: Snapshot) => void,
): Promise<Snapshot> {
  const byJob: LabelMatcher[] = job === undefined ? [] : [{ name: 'job', op: '=', value: job }];
  const settings = { windowSeconds: 1, ...query, matchers: [...byJob, ...(query?.matchers ?? [])] };
  const known = new Map(Object.entries(nodes));
  const feed = createUsageFeed({
    endpoint: { url },
    query: () => settings,
    intervalMs: 200,
    deadlineMs: 30_000,
    nodes: () => known,
    clock: systemClock,
    logger: createLogger('silent'),
    ...options,
  });
  const stop = new AbortController();
  const timeout = setTimeout(() => stop.abort(), 90_000);
  let failure: unknown = new Error('there was no pass');
  let found: Snapshot | undefined;
  feed.snapshots.subscribe((snapshot) => {
    try {
      satisfied(snapshot, feed.passes[1]);
      found = snapshot;
      stop.abort();
    } catch (error) {
      failure = error;
    }
  });
  await feed.run(stop.signal);
  clearTimeout(timeout);
  if (found === undefined) throw failure;
  return found;
}
