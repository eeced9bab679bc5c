import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import type { Side } from '../verdict/side.ts';
import { sideOfLabel } from './labelValue.ts';
import { mayHaveLabels } from './ownership.ts';

/** Finds the side that the last verdict of a node stands for; undefined when there is none. */
export type LastSide = (node: Pick<NodeView, 'name' | 'labels'>) => Side | undefined;

/**
 * Says where the last verdicts are.
 *
 * | mode    | the status is of mode | the last verdict is in                                                   |
 * |---------|-----------------------|--------------------------------------------------------------------------|
 * | Enforce | Enforce               | the label under the key of the spec, or in a rename under the previous key |
 * | Enforce | Observe               | the label, or the status: what was observed is what is enforced now      |
 * | Observe | any                   | our labels while they are there, then the status                         |
 *
 * Labels that this TrafficWatch has not written are no verdict of it with mode Observe: another one may use the key.
 */
export function createLastSide(o: Observation): LastSide {
  const isOurs = readsLabels(o);
  const readsStatus = modeOf(o.watch.spec) === 'Observe' || o.watch.status?.mode === 'Observe';
  return (node) => (isOurs ? labelledSide(o, node) : undefined) ?? (readsStatus ? statusSide(o, node.name) : undefined);
}

/** Whether labels under the keys of this TrafficWatch are its verdicts. */
export function readsLabels(o: Observation): boolean {
  return modeOf(o.watch.spec) === 'Enforce' || mayHaveLabels(o);
}

function labelledSide({ keys }: Observation, { labels }: Pick<NodeView, 'labels'>): Side | undefined {
  const side = sideOfLabel(labels[keys.spec ?? '']);
  return side ?? (keys.previous === undefined ? undefined : sideOfLabel(labels[keys.previous]));
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
