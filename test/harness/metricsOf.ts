import type { Operator } from './operator.ts';

/** A reading of an operator's /metrics. */
export interface Metrics {
  /** Sum of the series with this name (without the prefix `traffic_operator_`) and these labels; 0 if there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** @throws if the operator does not respond within 30 s */
export async function metricsOf(operator: Operator): Promise<Metrics> {
  const answer = await fetch(operator.metricsUrl, { signal: AbortSignal.timeout(30_000) });
  const lines = (await answer.text()).split('\n').filter((line) => !line.startsWith('#'));
  return {
    sum: (name, labels = {}) => {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const full = `traffic_operator_${name}`;
      return lines
        .filter((line) => line.startsWith(`${full}{`) || line.startsWith(`${full} `))
        .filter((line) => wanted.every((each) => line.includes(each)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
  };
}
