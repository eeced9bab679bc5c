import { mayHaveLabels, ownedByAnother } from '../../model/labelKeys.ts';
import type { Observation } from '../../observe/observation.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';
import { releaseLabels, releaseOutside } from './nodeLabels.ts';
import type { LabelChanges } from '../../model/label.ts';

/** Whether the spec of another TrafficWatch names the key. */
export function claimedBySpec(o: Observation, key: string): boolean {
  return (o.claims.get(key) ?? []).some((claim) => claim.bySpec);
}

/**
 * Returns the keys under which labels are verdicts of this TrafficWatch. The label of the first key on a node counts.
 *
 * | our finalizer | label key of the status | mode of the status | keys                                                  |
 * |---------------|-------------------------|--------------------|-------------------------------------------------------|
 * | absent        | any                     | any                | none: it has written no label                         |
 * | present       | none                    | any                | none: it has reported no label                        |
 * | present       | any                     | Observe            | none: its labels were removed, or stood for no traffic |
 * | present       | the key of the spec     | Enforce            | this key                                              |
 * | present       | another: a rename       | Enforce            | the key of the status, then the key of the spec       |
 * | present       | any, and LabelKeyTaken  | Enforce            | the key of the status, unless the spec has the same key: the older owner wrote there |
 *
 * Other labels under the key of the spec belong to another TrafficWatch, which was deleted or has changed its label, or to
 * a person: they do not count.
 */
export function ownKeys({ watch, keys }: Pick<Observation, 'watch' | 'keys'>): readonly string[] {
  const { spec, inUse, previous } = keys;
  if (!mayHaveLabels({ watch }) || watch.status?.mode === 'Observe') return [];
  const wasTaken = findCondition(watch.status?.conditions, ConditionType.Stalled)?.reason === Reason.LabelKeyTaken;
  const ofSpec = spec === undefined || wasTaken ? [] : [spec];
  if (previous !== undefined) return [previous, ...ofSpec];
  return inUse === spec ? ofSpec : [];
}

/**
 * The changes that take off the labels of a TrafficWatch that no longer labels nodes. A key that another TrafficWatch
 * inherits keeps its labels. A TrafficWatch without our finalizer has never written a label: what the nodes carry under
 * its key belongs to another owner.
 */
export function releaseOwnLabels(o: Observation): LabelChanges {
  if (!mayHaveLabels(o)) return new Map();
  const own = o.keys.claimed.filter((key) => !claimedBySpec(o, key) && !ownedByAnother(o, key));
  return withOutside(o, own, releaseLabels(o.view.nodes, own));
}

/**
 * Adds the changes that take our labels off the nodes that the selector leaves out.
 *
 * | label of such a node                                     | then                                       |
 * |----------------------------------------------------------|--------------------------------------------|
 * | under the key of the spec                                | removed                                    |
 * | in a rename: under the previous key too                  | removed, also before the Deployment has moved: a node without the label is allowed |
 * | under a key that belongs to another TrafficWatch         | untouched                                  |
 * | that another field manager owns                          | untouched: it is not ours, and nobody is fought |
 * | any, while this TrafficWatch does not have our finalizer | untouched: it has never written a label    |
 */
export function releaseUnselected(o: Observation, labelKey: string, changes: LabelChanges): LabelChanges {
  if (o.view.outside.length === 0 || !mayHaveLabels(o)) return changes;
  const { previous } = o.keys;
  const isOurs = previous !== undefined && !claimedBySpec(o, previous) && !ownedByAnother(o, previous);
  return withOutside(o, isOurs ? [labelKey, previous] : [labelKey], changes);
}

function withOutside(o: Observation, keys: readonly string[], changes: LabelChanges): LabelChanges {
  const released = releaseOutside(o.view.outside, keys);
  return released.size === 0 ? changes : new Map([...changes, ...released]);
}
