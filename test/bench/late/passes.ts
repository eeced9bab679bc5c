import type { KnownNode } from '../../../src/nodes/nodeNames.ts';
import { within } from '../../../src/prometheus/deadline.ts';
import type { PrometheusClient } from '../../../src/prometheus/prometheusClient.ts';
import { systemClock as clock } from '../../../src/runtime/process/clock.ts';
import { lateQuery, type UsageQuery } from '../../../src/usage/pass/queries.ts';
import { QueryRunner, type Background, type QueryKind } from '../../../src/usage/pass/queryRunner.ts';
import { UsageCollector, type Finding } from '../../../src/usage/pass/usageCollector.ts';
import { sleep } from '../../harness/measured.ts';

/** The deadline of a pass by default: 80 % of its interval of 10 s. */
const DEADLINE_MS = 8_000;

/** A client that answers the query for late samples itself, with no series: no sample is late. It sends all other queries. */
export function withoutLate(client: PrometheusClient, query: UsageQuery): PrometheusClient {
  const late = lateQuery(query);
  return {
    query: (asked) =>
      asked.expression === late ? Promise.resolve({ series: 0, warnings: [], infos: [] }) : client.query(asked),
    close: () => client.close(),
  };
}

/** Passes of the operator over its nodes, with their background queries, and the time of each query by kind. */
export class Passes {
  readonly #collector: UsageCollector;
  readonly #nodes: ReadonlyMap<string, KnownNode>;
  /** The durations of the queries, ms. */
  readonly queries = new Map<QueryKind, number[]>();
  #failed: string | undefined;

  constructor(o: { client: PrometheusClient; query: UsageQuery; nodes: ReadonlyMap<string, KnownNode> }) {
    const { client, query, nodes } = o;
    const background: Background = (work, atLeastMs = 0) =>
      within({ clock, timeoutMs: Math.max(DEADLINE_MS, atLeastMs) }, work);
    const metrics = {
      queryEnded: (kind: QueryKind, outcome: string, seconds: number): void => {
        if (outcome !== 'ok') this.#failed ??= `${kind}: ${outcome}`;
        this.queries.set(kind, [...(this.queries.get(kind) ?? []), seconds * 1000]);
      },
      passEnded: (): void => undefined,
    };
    const queries = new QueryRunner({ client, query, clock, metrics });
    this.#collector = new UsageCollector({ queries, query, clock, background });
    this.#nodes = nodes;
  }

  /**
   * Runs passes until one ends in time: with many nodes the first ones read facts for longer than their deadline.
   *
   * @throws after the given number of passes without a result
   */
  async warmUp(most: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#pass();
        await this.#collector.settled();
        this.#failed = undefined;
        this.queries.clear();
        return;
      } catch (error) {
        if (attempt === most) throw error;
      }
    }
  }

  /**
   * Runs so many passes, one every `intervalMs`, and waits for their background queries.
   *
   * @returns ms of each pass
   * @throws if a node has no percent, or a query failed
   */
  async run(count: number, intervalMs: number): Promise<number[]> {
    const took: number[] = [];
    while (took.length < count) {
      const begin = performance.now();
      const { nodes } = await this.#pass();
      took.push(performance.now() - begin);
      const unknown = [...nodes.values()].find(({ reason }) => reason !== 'Measured');
      if (unknown !== undefined) throw new Error(`${unknown.node}: ${unknown.reason}, ${unknown.message}`);
      await sleep(Math.max(0, begin + intervalMs - performance.now()));
    }
    await this.#collector.settled();
    if (this.#failed !== undefined) throw new Error(`a query failed: ${this.#failed}`);
    return took;
  }

  #pass(): Promise<Finding> {
    return within({ clock, timeoutMs: DEADLINE_MS }, (deadline) =>
      this.#collector.next(this.#nodes, clock.now(), deadline),
    );
  }
}
