import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import { sideOfLabel, type Side } from '../../model/label.ts';
import { ownKeys } from './ownership.ts';

/** Finds the side that the last verdict of a node stands for; undefined when there is none. */
export type LastSide = (node: Pick<NodeView, 'name' | 'labels'>) => Side | undefined;

/**
 * Says where the last verdicts are.
 *
 * | mode    | has labels of its own (ownKeys) | the last verdict is in                                              |
 * |---------|---------------------------------|---------------------------------------------------------------------|
 * | Enforce | yes                             | the label                                                           |
 * | Enforce | no                              | the status: what was observed is what is enforced now               |
 * | Observe | yes                             | the label while it is there, then the status                        |
 * | Observe | no                              | the status                                                          |
 */
export function createLastSide(o: Observation): LastSide {
  const own = ownKeys(o);
  const readsStatus = own.length === 0 || modeOf(o.watch.spec) === 'Observe';
  return ({ name, labels }) => {
    for (const key of own) {
      const side = sideOfLabel(labels[key]);
      if (side !== undefined) return side;
    }
    return readsStatus ? statusSide(o, name) : undefined;
  };
}

/**
 * A node keeps its side while it is Unknown. One that is Unknown and not unfit may never have been decided: then it has no
 * labelSince.
 */
function statusSide({ watch }: Observation, name: string): Side | undefined {
  const last = watch.status?.nodes?.[name];
  if (last === undefined) return undefined;
  if (last.unfit) return 'above';
  return last.verdict === 'Unknown' && last.labelSince === undefined ? undefined : 'notAbove';
}
