import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';

type Usage = Pick<NodeUsage, 'percent' | 'fullest'>;

/**
 * Names the device that is above the threshold while its node is not: the measure Sum hides it behind idle devices.
 *
 * | node                                     | fullest device | message          |
 * |------------------------------------------|----------------|------------------|
 * | no figure, or only one device            | any            | none             |
 * | above the threshold                      | any            | none: the verdict says so |
 * | at or below                              | at or below    | none             |
 * | at or below                              | above          | device, percent and what to set |
 *
 * @param usage of the newest pass
 * @param maxPercent percent of the capacity
 */
export function describeFullDevice(usage: Usage | undefined, maxPercent: number): string | undefined {
  const { percent, fullest } = usage ?? {};
  if (percent === undefined || fullest === undefined) return undefined;
  if (percent > maxPercent || fullest.percent <= maxPercent) return undefined;
  const figures = `${fullest.device} is at ${rounded(fullest.percent)} %, the node at ${rounded(percent)} %`;
  return `${figures}; set spec.measure to Fullest to decide by the busiest device`;
}

function rounded(percent: number): string {
  return percent.toFixed(1);
}
