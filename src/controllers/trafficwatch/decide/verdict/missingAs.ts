import { missingDataOf } from '../../../../api/trafficwatch/spec/missingData.ts';
import type { Observation } from '../../observe/observation.ts';
import type { Side } from '../../model/label.ts';

/** The side that a node without a figure counts as; undefined while its label stays. */
export type MissingAs = (node: string) => Side | undefined;

/**
 * Says which nodes have had no figure for holdFor; undefined if no node is decided that way: with the policy Hold, after a
 * pass without a figure of any node, and after one with a warning, which may lack nodes that have figures.
 */
export function createMissingAs({ watch, view, missingSince, now }: Observation): MissingAs | undefined {
  const missingData = missingDataOf(watch.spec);
  if (missingData === undefined || missingSince === undefined || view.figures.passesWithData === 0) return undefined;
  if (view.passes[0] === undefined || view.passes[0].warnings.length > 0) return undefined;
  const { countsAs, holdForMs } = missingData;
  const side = countsAs === 'Unfit' ? 'above' : 'notAbove';
  return (node) => {
    const since = missingSince.get(node);
    return since !== undefined && now - since >= holdForMs ? side : undefined;
  };
}
