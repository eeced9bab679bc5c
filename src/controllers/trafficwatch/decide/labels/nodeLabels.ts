import type { NodeView, Observation } from '../../observe/observation.ts';
import {
  labelValueOf,
  sideOfLabel,
  type Side,
  type LabelValue,
  type LabelChange,
  type LabelChanges,
} from '../../model/label.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';
import { mayHaveLabels, ownedByAnother, claimedBySpec } from '../../model/labelKeys.ts';

/** The input for the label changes of all nodes. */
interface NodeLabelsInput {
  readonly nodes: readonly NodeView[];
  /** One verdict for each of the nodes, in the same order. */
  readonly verdicts: readonly NodeVerdict[];
  readonly labelKey: string;
  /**
   * True if the labels under `labelKey` are of another TrafficWatch. Those that the operator wrote are removed where there
   * is no verdict: they would count as one from the next pass on.
   */
  readonly areInherited?: boolean;
  /** The key before a rename; undefined when there is none. */
  readonly previousKey: string | undefined;
  /** True if the Deployment, if any, schedules by `labelKey` and no other TrafficWatch names `previousKey`. */
  readonly mayRelease: boolean;
  /** True if `previousKey` must follow the verdict too, as long as the Deployment does not schedule by `labelKey`. */
  readonly previousInForce: boolean;
}

/** The label changes of a Node. Undefined if there are none, as on nearly all nodes in nearly all passes. */
type Decide = (node: NodeView, decided: Side | undefined) => LabelChange | undefined;

/** Nodes with the same change share one object, because a new TrafficWatch may label ten thousand nodes. */
function changesUnder(labelKey: string, areInherited: boolean): Decide {
  const changes: Record<Side, LabelChange> = {
    above: { [labelKey]: labelValueOf('above') },
    notAbove: { [labelKey]: labelValueOf('notAbove') },
  };
  const removal = { [labelKey]: null };
  return ({ labels, ownedKeys }, decided) => {
    if (decided !== undefined) return labels[labelKey] === labelValueOf(decided) ? undefined : changes[decided];
    return areInherited && labels[labelKey] !== undefined && ownedKeys?.includes(labelKey) ? removal : undefined;
  };
}

function changesInRename({ labelKey, mayRelease, previousInForce }: NodeLabelsInput, previousKey: string): Decide {
  return (node, decided) => {
    const present = node.labels[labelKey];
    const previous = node.labels[previousKey];
    // A node whose verdict is unknown now keeps the verdict of its old label.
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
 * The label changes that make every node's label match its verdict. In a rename, the label is written under both keys
 * until the Deployment uses the new key. That may take long, because the API server may reject the new template. The
 * old label of a node is removed only after the node has the new one.
 */
export function decideNodeLabels(input: NodeLabelsInput): LabelChanges {
  const { nodes, verdicts, labelKey, areInherited = false, previousKey } = input;
  const changeOf =
    previousKey === undefined ? changesUnder(labelKey, areInherited) : changesInRename(input, previousKey);
  const changes = new Map<string, LabelChange>();
  nodes.forEach((node, place) => {
    const change = changeOf(node, verdicts[place]?.side);
    if (change !== undefined) changes.set(node.name, change);
  });
  return changes;
}

/**
 * The nodes with a change that the scheduler sees: a verdict that is replaced by the opposite, a first `true`, and a
 * `true` that is removed. A missing label means fit: a first `false`, or the removal of a `false`, moves no pod.
 */
export function urgentNodes(nodes: readonly NodeView[], changes: LabelChanges): Set<string> {
  if (changes.size === 0) return new Set();
  const isUrgent = ({ name, labels }: NodeView): boolean =>
    Object.entries(changes.get(name) ?? {}).some(([key, value]) => value === 'true' || labels[key] === 'true');
  return new Set(nodes.filter(isUrgent).map(({ name }) => name));
}

/** Creates a function that returns the change that removes these keys. Nodes with the same keys share one object. */
function createTakingOff(): (keys: readonly string[]) => LabelChange {
  const changes = new Map<string, LabelChange>();
  return (keys) => {
    const known = changes.get(keys.join(' '));
    const change = known ?? Object.fromEntries(keys.map((key) => [key, null]));
    if (known === undefined) changes.set(keys.join(' '), change);
    return change;
  };
}

/** The label changes that remove these keys from all nodes. */
export function releaseLabels(
  nodes: readonly Pick<NodeView, 'name' | 'labels'>[],
  keys: readonly string[],
): LabelChanges {
  return released(nodes, ({ labels }) => keys.filter((key) => labels[key] !== undefined));
}

/** The same, except labels that another field manager owns. */
function releaseOutside(nodes: readonly NodeView[], keys: readonly string[]): LabelChanges {
  return released(nodes, ({ labels, otherOwners }) =>
    keys.filter((key) => labels[key] !== undefined && otherOwners?.[key] === undefined),
  );
}

function released<N extends Pick<NodeView, 'name'>>(
  nodes: readonly N[],
  keysOf: (node: N) => readonly string[],
): LabelChanges {
  const changes = new Map<string, LabelChange>();
  const takeOff = createTakingOff();
  for (const node of nodes) {
    const mine = keysOf(node);
    if (mine.length > 0) changes.set(node.name, takeOff(mine));
  }
  return changes;
}

/** A Node with the label keys that this operator wrote, for the sweep of orphaned labels. */
interface SweptNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownedKeys: readonly string[];
}

/** Keys of the labels on a Node that the operator owns and no TrafficWatch claims. */
export function orphanedKeys(
  { labels, ownedKeys }: Pick<SweptNode, 'labels' | 'ownedKeys'>,
  isClaimed: (key: string) => boolean,
): string[] {
  return ownedKeys.filter((key) => labels[key] !== undefined && !isClaimed(key));
}

/**
 * Removes labels that no TrafficWatch claims. They are left when somebody removes the finalizer of a deleted
 * TrafficWatch by force, or when spec.label changes twice in a row. Only keys that our field manager owns are removed;
 * labels that a person wrote stay.
 *
 * @param claimed every label key in the spec or status of a TrafficWatch, including those that are being deleted: they
 * remove their labels themselves.
 */
export function decideOrphans(nodes: readonly SweptNode[], claimed: ReadonlySet<string>): LabelChanges {
  const changes = new Map<string, LabelChange>();
  const takeOff = createTakingOff();
  const isClaimed = (key: string): boolean => claimed.has(key);
  // Consecutive nodes often share one list object. With fifty TrafficWatches it has fifty keys: check each list once.
  let allClaimed: readonly string[] | undefined;
  for (const node of nodes) {
    if (node.ownedKeys === allClaimed) continue;
    // The usual case, after each pass: allocate nothing.
    if (node.ownedKeys.every(isClaimed)) {
      allClaimed = node.ownedKeys;
      continue;
    }
    const orphaned = orphanedKeys(node, isClaimed);
    if (orphaned.length > 0) changes.set(node.name, takeOff(orphaned));
  }
  return changes;
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
