import type { Operator } from '../integration/operator.ts';

/** One reading of an operator's /metrics. */
export class MetricsPage {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  }

  static async of(operator: Operator): Promise<MetricsPage> {
    return new MetricsPage(await (await fetch(operator.metricsUrl)).text());
  }

  /** Sum of the series of this full name that have this label; 0 where there is none. */
  sum(name: string, label = ''): number {
    return this.#lines
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** Passes that gave an answer. */
  get passes(): number {
    return this.sum('traffic_operator_passes_total', 'result="ok"');
  }

  /** Milliseconds that passes and what they lead to for TrafficWatches took so far, but for waiting for one another. */
  get passMs(): number {
    const reconciles = ['trafficwatch', 'orphanedlabels'].map((name) =>
      this.sum('traffic_operator_reconcile_duration_seconds_sum', `controller="${name}"`),
    );
    const seconds = reconciles.reduce((a, b) => a + b, this.sum('traffic_operator_pass_duration_seconds_sum'));
    return seconds * 1000;
  }
}
