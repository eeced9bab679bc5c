import { isDeepStrictEqual } from 'node:util';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { KnownNode } from '../../../nodes/nodeNames.ts';
import type { Readings } from '../../evaluate/reading.ts';
import { UsageCollector, type Finding } from '../usageCollector.ts';
import type { UsageQuery } from '../queries.ts';
import { QueryRunner } from '../queryRunner.ts';
import { FakePrometheus, type FakeDevice } from '../../../prometheus/testing/fakePrometheus.ts';

const DEADLINE = { signal: new AbortController().signal, timeoutMs: 8_000 };
export const QUERY = { windowSeconds: 20, scrapeIntervalSeconds: 5, matchers: [] } as const;

/** Runs passes with a fake Prometheus and a fake clock. */
export class PassScene {
  readonly clock = new FakeClock();
  readonly prometheus = new FakePrometheus();
  collector: UsageCollector;
  /** The readings that the next pass evaluates besides the default reading. */
  readings: Readings = new Map();
  #nodes: ReadonlyMap<string, KnownNode> = new Map();

  constructor(query: UsageQuery = QUERY) {
    this.collector = this.collectorOf(query);
  }

  collectorOf(query: UsageQuery): UsageCollector {
    const { clock, prometheus: client } = this;
    const queries = new QueryRunner({ client, query, clock });
    return new UsageCollector({ queries, query, clock, background: (work) => work(DEADLINE) });
  }

  /** Runs one pass and waits for its background queries. Equal nodes give the same map object, like an informer. */
  async next(nodes: Record<string, KnownNode>): Promise<Finding> {
    if (!isDeepStrictEqual(Object.fromEntries(this.#nodes), nodes)) this.#nodes = new Map(Object.entries(nodes));
    const finding = await this.collector.next(this.#nodes, this.clock.now(), DEADLINE, this.readings);
    await this.collector.settled();
    return finding;
  }
}

/** A device that sends at 5 % of its speed. */
export function device(node: string, name: string, more: Partial<FakeDevice> = {}): FakeDevice {
  return { node, instance: `${node}:9100`, device: name, rate: '5', total: '70', speed: '100', ...more };
}
