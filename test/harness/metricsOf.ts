import type { Operator } from './operator.ts';

/** What an operator's /metrics says at one moment. */
export interface Metrics {
  /** Sum of the series of this name, without its prefix `traffic_operator_`, whose labels match; 0 when there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** @throws when the operator does not answer within 30 s */
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
