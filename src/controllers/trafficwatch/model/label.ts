import type { NodeUsage } from '../../../usage/evaluate/percent.ts';

/** A side of the threshold. Exactly the threshold is not above it. */
export type Side = 'above' | 'notAbove';

/**
 * The side of the threshold on which the node is; undefined if the pass has no figure for it.
 * @param maxPercent percent of the capacity
 */
export function sideOf(usage: Pick<NodeUsage, 'percent'> | undefined, maxPercent: number): Side | undefined {
  if (usage?.percent === undefined) return undefined;
  return usage.percent > maxPercent ? 'above' : 'notAbove';
}

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

/** Label keys of one Node to set, or to remove (null): the `metadata.labels` of a merge patch. */
export type LabelChange = Readonly<Record<string, LabelValue | null>>;

/** Node name -> its label changes. Contains only nodes with changes. */
export type LabelChanges = ReadonlyMap<string, LabelChange>;

/** A label key of a Node. */
export interface LabelRef {
  readonly node: string;
  readonly key: string;
}
