import type { Operator } from '../harness/operator.ts';

/** One reading of an operator's /metrics. */
export class MetricsPage {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  }

  static async of(operator: Operator): Promise<MetricsPage> {
    return new MetricsPage(await (await fetch(operator.metricsUrl)).text());
  }

  /** Sum of the series with this full name and this label; 0 if there is none. */
  sum(name: string, label = ''): number {
    return this.#lines
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** Successful passes. */
  get passes(): number {
    return this.sum('traffic_operator_passes_total', 'result="ok"');
  }

  /** All passes, including failed ones. */
  get allPasses(): number {
    return this.sum('traffic_operator_passes_total');
  }

  /** Number of failed passes since an earlier reading. */
  failedSince(before: MetricsPage): number {
    return this.allPasses - this.passes - (before.allPasses - before.passes);
  }

  /**
   * Passes that all TrafficWatches were reconciled for, and the sum of the milliseconds from their starts to the last
   * reconcile.
   */
  get settled(): { passes: number; ms: number } {
    const metric = 'traffic_operator_pass_settled_seconds';
    return { passes: this.sum(`${metric}_count`), ms: this.sum(`${metric}_sum`) * 1000 };
  }
}
