import { resultOf, type Result } from '../figure.ts';

/** A report with the most agents costs at most this many times as much CPU as with the fewest: 1.06 was measured. */
const AT_MOST_TIMES = 1.25;
const PER_REPORT = /^connectivity\.(\d+)\.perReport$/;

/**
 * Compares the CPU per report of the largest and the smallest scale. Per report, because scales differ in their
 * interval: an agent costs as much CPU as its reports. The ratio hardly depends on the machine, unlike the times.
 *
 * @param results of `measureScale`, of all scales
 * @returns nothing for fewer than two scales
 */
export function flatCost(results: readonly Result[]): Result[] {
  const costs = results
    .flatMap(({ id, summary }) => {
      const agents = PER_REPORT.exec(id)?.[1];
      return agents === undefined ? [] : [{ agents: Number(agents), ms: summary.median }];
    })
    .sort((a, b) => a.agents - b.agents);
  const [fewest, most] = [costs[0], costs.at(-1)];
  if (fewest === undefined || most === undefined || fewest.agents === most.agents) return [];
  const text = ({ agents }: { agents: number }): string => `${agents.toLocaleString('en')} agents`;
  return [
    resultOf({
      id: 'connectivity.flatCost',
      what: `CPU per report with ${text(most)}, median`,
      unit: 'ms',
      samples: [most.ms],
      limit: { what: `with ${text(fewest)}`, samples: [fewest.ms], atMostTimes: AT_MOST_TIMES },
    }),
  ];
}
