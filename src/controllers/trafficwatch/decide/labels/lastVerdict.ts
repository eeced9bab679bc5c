import { minHoldOf } from '../../../../api/trafficwatch/spec/verdict.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import { sideOfLabel, type Side } from '../../model/label.ts';
import { mayHaveLabels } from '../../model/labelKeys.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';

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

/** Finds the side that the last verdict of a node stands for; undefined when there is none. */
type LastSide = (node: Pick<NodeView, 'name' | 'labels'>) => Side | undefined;

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

/** Times in managedFields and in the status are whole seconds, rounded down: ms. */
const PRECISION_MS = 1_000;

/** Until when the label of a node stays, ms since the epoch; undefined if it may change now. */
type LabelHold = (node: NodeView) => number | undefined;

/**
 * Says how long labels stay by `minHold`; undefined without it.
 *
 * | the last verdict of the node is in              | it changed at                                          |
 * |-------------------------------------------------|--------------------------------------------------------|
 * | a label that the operator wrote                 | the time of the label: labelTimes, or else writtenAt   |
 * | a label that another client wrote over          | not known: it is corrected at once                     |
 * | the status (mode Observe)                       | `labelSince` of the node, or else `since`              |
 * | nothing                                         | not known: the first verdict does not wait             |
 *
 * Only labels that this TrafficWatch has written count (ownKeys). `labelSince` does not change while a node is Unknown; a
 * status of an earlier version has only `since`, which does.
 *
 * In a rename the label under the previous key counts, and then the one under the new key. The times are of the
 * API server's clock and are compared with ours: a difference makes the hold that much longer or shorter.
 */
export function createLabelHold(o: Observation): LabelHold | undefined {
  const minHoldMs = minHoldOf(o.watch.spec);
  if (minHoldMs === undefined) return undefined;
  return (node) => {
    const at = changedAt(o, node);
    const until = at === undefined ? undefined : at + PRECISION_MS + minHoldMs;
    return until !== undefined && o.now < until ? until : undefined;
  };
}

/**
 * Whether another client wrote the label of the node last. Such a label is no verdict, and is corrected at once: neither
 * minHold nor the rate window after an outage keeps it.
 */
export function isWrittenOver(o: Observation, node: NodeView): boolean {
  const { ownedKeys } = node;
  const key = labelledKey(o, node);
  return key !== undefined && ownedKeys !== undefined && !ownedKeys.includes(key);
}

/** The key of the label that counts: the previous one in a rename. Undefined without a label of this TrafficWatch. */
function labelledKey(o: Observation, { labels }: NodeView): string | undefined {
  return ownKeys(o).find((key) => labels[key] !== undefined);
}

/** When the last verdict of the node changed: ms since the epoch. Undefined if that is not known; see createLabelHold. */
export function changedAt(o: Observation, node: NodeView): number | undefined {
  const { name, ownedKeys, writtenAt } = node;
  const key = labelledKey(o, node);
  if (key !== undefined) return ownedKeys?.includes(key) ? (o.labelTimes?.get(name)?.[key] ?? writtenAt) : undefined;
  if (o.watch.status?.mode !== 'Observe') return undefined;
  const last = o.watch.status.nodes?.[name];
  const since = last?.labelSince ?? last?.since;
  return since === undefined ? undefined : Date.parse(since);
}
