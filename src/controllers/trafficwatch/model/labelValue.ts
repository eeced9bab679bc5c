import type { Side } from './side.ts';

/** The value of the node label: whether the node is unfit. */
export type LabelValue = 'true' | 'false';

/** The label value of a node on this side of the threshold. */
export function labelValueOf(side: Side): LabelValue {
  return side === 'above' ? 'true' : 'false';
}

/** The side of the threshold that a label value stands for. Any other value counts as no label: undefined. */
export function sideOfLabel(value: string | undefined): Side | undefined {
  if (value === 'true') return 'above';
  return value === 'false' ? 'notAbove' : undefined;
}
