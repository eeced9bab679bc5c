import type { NodeView } from '../../observe/observation.ts';
import type { Side } from '../verdict/side.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';
import { labelValueOf, sideOfLabel, type LabelValue } from './labelValue.ts';

/** Label keys of one Node to set, or to take off (null): the `metadata.labels` of a merge patch. */
export type LabelChange = Readonly<Record<string, LabelValue | null>>;

/** Node name -> what changes there. Nodes on which nothing changes are not in it. */
export type LabelChanges = ReadonlyMap<string, LabelChange>;

/** What the labels of all nodes are decided from. */
export interface NodeLabelsInput {
  readonly nodes: readonly NodeView[];
  /** Of the nodes, in their order. */
  readonly verdicts: readonly NodeVerdict[];
  readonly labelKey: string;
  /** The key before a rename; undefined when there is none. */
  readonly previousKey: string | undefined;
  /** True when the Deployment already schedules by `labelKey` and nobody else claims `previousKey`. */
  readonly mayRelease: boolean;
  /** True while the Deployment there is schedules by `previousKey`, which then has to say the verdict as well. */
  readonly previousInForce: boolean;
}

/** What changes on a Node; undefined where nothing does: on nearly all nodes, in nearly all passes. */
type Decide = (node: NodeView, decided: Side | undefined) => LabelChange | undefined;

/** Nodes that change alike share one object: a new TrafficWatch labels each of ten thousand. */
function changesUnder(labelKey: string): Decide {
  const changes: Record<Side, LabelChange> = {
    above: { [labelKey]: labelValueOf('above') },
    notAbove: { [labelKey]: labelValueOf('notAbove') },
  };
  return (node, decided) =>
    decided === undefined || node.labels[labelKey] === labelValueOf(decided) ? undefined : changes[decided];
}

function changesInRename({ labelKey, mayRelease, previousInForce }: NodeLabelsInput, previousKey: string): Decide {
  return (node, decided) => {
    const present = node.labels[labelKey];
    const previous = node.labels[previousKey];
    // A node that cannot be decided now keeps the verdict that its old label holds.
    const side = decided ?? (present === undefined ? sideOfLabel(previous) : undefined);
    const desired = side && labelValueOf(side);
    const change: Record<string, LabelValue | null> = {};
    if (desired !== undefined && present !== desired) change[labelKey] = desired;
    if (previousInForce && desired !== undefined && previous !== desired) change[previousKey] = desired;
    const settled = desired === undefined || present !== undefined;
    if (previous !== undefined && mayRelease && settled) change[previousKey] = null;
    return Object.keys(change).length > 0 ? change : undefined;
  };
}

/**
 * The labels to write so that every node says its verdict. In a rename it says it under both keys until the Deployment
 * has left the old one, which may take long: its new template may be refused. A node's old key goes only after its new
 * one is there.
 */
export function decideNodeLabels(input: NodeLabelsInput): LabelChanges {
  const { nodes, verdicts, labelKey, previousKey } = input;
  const changeOf = previousKey === undefined ? changesUnder(labelKey) : changesInRename(input, previousKey);
  const changes = new Map<string, LabelChange>();
  nodes.forEach((node, place) => {
    const change = changeOf(node, verdicts[place]?.side);
    if (change !== undefined) changes.set(node.name, change);
  });
  return changes;
}

/** Makes the change that takes keys off; nodes from which the same are taken share one. */
export function createTakingOff(): (keys: readonly string[]) => LabelChange {
  const changes = new Map<string, LabelChange>();
  return (keys) => {
    const known = changes.get(keys.join(' '));
    const change = known ?? Object.fromEntries(keys.map((key) => [key, null]));
    if (known === undefined) changes.set(keys.join(' '), change);
    return change;
  };
}

/** The labels to take off when nobody uses the keys any more. */
export function releaseLabels(
  nodes: readonly Pick<NodeView, 'name' | 'labels'>[],
  keys: readonly string[],
): LabelChanges {
  const changes = new Map<string, LabelChange>();
  const takeOff = createTakingOff();
  for (const node of nodes) {
    const mine = keys.filter((key) => node.labels[key] !== undefined);
    if (mine.length > 0) changes.set(node.name, takeOff(mine));
  }
  return changes;
}
