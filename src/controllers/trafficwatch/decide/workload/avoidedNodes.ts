import { placementOf } from '../../../../api/trafficwatch/spec/placement.ts';
import { AVOIDED_AT_MOST } from '../../../../api/trafficwatch/statusSchema.ts';
import type { Observation } from '../../observe/observation.ts';
import { createLastSide } from '../labels/lastVerdict.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';

/** The nodes that new pods avoid by name. */
export interface AvoidedNodes {
  /** In alphabetical order, AVOIDED_AT_MOST at most. */
  readonly names: readonly string[];
  /** False if more nodes are unfit. */
  readonly isComplete: boolean;
}

/**
 * The nodes that the admission policy excludes for pods that are created now, for `status.avoidedNodes`.
 *
 * | placement  | unfit nodes               | result                                                |
 * |------------|---------------------------|-------------------------------------------------------|
 * | not AtCreation | any                   | undefined                                             |
 * | AtCreation | none                      | no names: pods only prefer fit nodes                  |
 * | AtCreation | AVOIDED_AT_MOST at most   | all of them                                           |
 * | AtCreation | more                      | the first by name, so that the list is steady; the others are avoided only by preference |
 *
 * @param verdicts one for each node of the observation, in the same order. A verdict without a side leaves the label as
 *   it is, so the label counts.
 */
export function avoidedNodesOf(o: Observation, verdicts: readonly NodeVerdict[]): AvoidedNodes | undefined {
  if (placementOf(o.watch.spec) !== 'AtCreation') return undefined;
  const lastSide = createLastSide(o);
  const unfit = o.view.nodes.filter((node, place) => (verdicts[place]?.side ?? lastSide(node)) === 'above');
  const names = unfit.map(({ name }) => name).sort();
  return { names: names.slice(0, AVOIDED_AT_MOST), isComplete: names.length <= AVOIDED_AT_MOST };
}

/**
 * Returns the names to write before the labels: the names in the status, and the nodes that turn unfit. Without them, a pod
 * that is created between the label and the status could run on a node that has the label already.
 *
 * @param before the names of the status
 * @returns undefined if the status names every node that is unfit
 */
export function namesBeforeLabels(before: readonly string[], { names }: AvoidedNodes): string[] | undefined {
  if (names.every((name) => before.includes(name))) return undefined;
  const others = before.filter((name) => !names.includes(name));
  return [...names, ...others].slice(0, AVOIDED_AT_MOST).sort();
}
