import { formatCapacity } from '../../../../../usage/evaluate/capacity.ts';
import type { NodeUsage } from '../../../../../usage/evaluate/percent.ts';

/** Maximum number of decimals. A percent that still rounds to the threshold is as good as the threshold. */
const DECIMALS_AT_MOST = 6;

/**
 * A percent for people: one decimal, or as many as show on which side of the threshold it is.
 *
 * | percent             | threshold | text            |
 * |---------------------|-----------|-----------------|
 * | 95.60602856761446   | 60        | 95.6 %          |
 * | 60.004              | 60        | 60.004 %        |
 * | 0.0037              | 20        | less than 0.1 % |
 * | 0                   | 20        | 0 %             |
 */
export function percentText(percent: number, threshold: number): string {
  if (percent > 0 && percent < 0.1 && threshold >= 0.1) return 'less than 0.1 %';
  const side = Math.sign(percent - threshold);
  for (let decimals = 1; decimals <= DECIMALS_AT_MOST; decimals += 1) {
    const rounded = Number(percent.toFixed(decimals));
    if (Math.sign(rounded - threshold) === side && (rounded !== 0 || percent === 0)) return `${rounded} %`;
  }
  return `${percent} %`;
}

/** The figure of a node for people: "95.6 % of 100 Mbit/s". '' without a percent. */
export function figureText(usage: NodeUsage | undefined, threshold: number): string {
  if (usage?.percent === undefined) return '';
  const { percent, capacityBytesPerSecond: capacity } = usage;
  const of = capacity === undefined ? '' : ` of ${formatCapacity(capacity).replace(/([A-Za-z]+)$/, ' $1/s')}`;
  return `${percentText(percent, threshold)}${of}`;
}
