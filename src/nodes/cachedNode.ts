import type { V1ManagedFieldsEntry, V1Node } from '@kubernetes/client-node';
import type { KubeObject } from '../runtime/client/resource.ts';
import { Interner } from '../runtime/process/interner.ts';
import { stateOf, whyNeverMeasured, type NotMeasurable } from './notMeasurable.ts';
import { createCapacityReader, type StatedCapacity } from './statedCapacity.ts';

/** Suffix of the label keys that the operator writes on nodes: `<prefix>.traffic.example.com/unfit`. */
const UNFIT_SUFFIX = '.traffic.example.com/unfit';
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';

/** The parts of a Node that the cache keeps: a few hundred bytes of about a dozen KiB. */
export interface CachedNode extends KubeObject {
  name: string;
  /** The creation time of the Node, ms since the epoch by the API server's clock. */
  createdAt: number;
  /** Labels that end in UNFIT_SUFFIX, whoever wrote them. */
  labels: Readonly<Record<string, string>>;
  /** The other labels, except HOSTNAME_LABEL, for node selectors. Nodes share the objects. Read it with `labelOf`. */
  otherLabels: LabelSet;
  /** The value of HOSTNAME_LABEL, which is different on each node. Absent without the label. */
  hostname?: string;
  /** The keys in `labels` that the given field manager owns. */
  ownedKeys: readonly string[];
  /** For the other keys in `labels`: key -> the field manager that owns it. Absent if there are no other keys. */
  otherOwners?: Readonly<Record<string, string>>;
  /**
   * When the given field manager last changed a value of `labels`, or another field of the Node: ms since the epoch by
   * the API server's clock. Absent if it owns none of the labels.
   */
  writtenAt?: number;
  /** The capacity that an annotation or a label states. */
  capacity?: StatedCapacity;
  /** Names and IPs that series may use for the node: the hostname label and status.addresses. */
  addresses: readonly string[];
  /** spec.podCIDRs. Absent if the Node has none, and if only metadata is watched. */
  podCIDRs?: readonly string[];
  /** Why the node cannot be measured according to its labels and annotations. Absent on most nodes. Nodes share the objects. */
  neverMeasured?: NotMeasurable;
  /** Since when the Node is not Ready, ms since the epoch. Absent while it is Ready, and if only metadata is watched. */
  notReadySince?: number;
  /** Set while somebody empties the node: `isBeingEmptied`. Absent if only metadata is watched. */
  isBeingEmptied?: true;
}

/** Taints by which cluster-autoscaler and Karpenter mark a node before they evict its pods. */
const REMOVAL_TAINTS: ReadonlySet<string> = new Set([
  'ToBeDeletedByClusterAutoscaler',
  'karpenter.sh/disrupted',
  // Before Karpenter 1.0.
  'karpenter.sh/disruption',
]);

/** Whether a Node is cordoned, as by `kubectl drain`, or an autoscaler removes it: its pods are evicted for that reason. */
function isBeingEmptied({ spec }: V1Node): boolean {
  return spec?.unschedulable === true || (spec?.taints ?? []).some(({ key }) => REMOVAL_TAINTS.has(key));
}

/** Shared by nodes without a label that ends in UNFIT_SUFFIX: most nodes of a new installation. */
const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
const NO_KEYS: readonly string[] = Object.freeze([]);
/** How many sets of labels, and how many values, are kept for sharing: most nodes have one of a few sets. */
const MOST_SHARED = 16;

type OwnedLabels = Pick<CachedNode, 'labels' | 'ownedKeys' | 'otherOwners'>;

function unfitLabelsOf(
  labels: Readonly<Record<string, string>>,
  values: Interner<string>,
): Readonly<Record<string, string>> {
  const keys = Object.keys(labels).filter((key) => key.endsWith(UNFIT_SUFFIX));
  return keys.length === 0 ? NO_LABELS : Object.fromEntries(keys.map((key) => [key, values.share(labels[key] ?? '')]));
}

interface FieldsV1 {
  'f:metadata'?: { 'f:labels'?: Record<string, unknown> };
}

function labelFields(entry: V1ManagedFieldsEntry): Record<string, unknown> {
  return (entry.fieldsV1 as FieldsV1 | undefined)?.['f:metadata']?.['f:labels'] ?? {};
}

function owns(entry: V1ManagedFieldsEntry, key: string): boolean {
  return `f:${key}` in labelFields(entry);
}

/**
 * Finds the owners of these label keys in managedFields. Checks only keys of present labels: managedFields may
 * still name the key of a label that was removed, since removing a label gives no ownership.
 */
function ownersOf(
  node: KubeObject,
  keys: readonly string[],
  fieldManager: string,
): Pick<CachedNode, 'ownedKeys' | 'otherOwners'> {
  if (keys.length === 0) return { ownedKeys: NO_KEYS };
  const entries: readonly V1ManagedFieldsEntry[] = node.metadata?.managedFields ?? [];
  const mine = entries.filter(({ manager }) => manager === fieldManager);
  const ownedKeys = keys.filter((key) => mine.some((entry) => owns(entry, key)));
  if (ownedKeys.length === keys.length) return { ownedKeys };
  const others = keys.filter((key) => !ownedKeys.includes(key));
  const otherOwners = others.flatMap((key) => {
    const owner = entries.find((entry) => owns(entry, key))?.manager;
    return owner === undefined ? [] : [[key, owner] as const];
  });
  return { ownedKeys, otherOwners: Object.fromEntries(otherOwners) };
}

/** Returns the newest time in the entries of a field manager: the API server sets it whenever the manager changes a value. */
function writtenAtOf(node: KubeObject, fieldManager: string): number | undefined {
  let newest: number | undefined;
  for (const { manager, time } of node.metadata?.managedFields ?? []) {
    const at = manager === fieldManager && time !== undefined ? new Date(time).getTime() : NaN;
    if (at > (newest ?? -Infinity)) newest = at;
  }
  return newest;
}

function addressesOf(node: V1Node): readonly string[] {
  const hostname = node.metadata?.labels?.[HOSTNAME_LABEL];
  const addresses = (node.status?.addresses ?? []).map((a) => a.address);
  return [...new Set([...(hostname === undefined ? [] : [hostname]), ...addresses])];
}

function isOtherLabel(key: string): boolean {
  return key !== HOSTNAME_LABEL && !key.endsWith(UNFIT_SUFFIX);
}

/** Returns the hostname label. If it equals the name of the node, both share one string. */
function hostnameOf(name: string, labels: Readonly<Record<string, string>>): Pick<CachedNode, 'hostname'> {
  const hostname = labels[HOSTNAME_LABEL];
  if (hostname === undefined) return {};
  return { hostname: hostname === name ? name : hostname };
}

/**
 * Creates the transform of the Node informer, which drops everything that the operator does not read.
 * @param fieldManager the field manager for `ownedKeys`
 * @param options.capacityLabel key of the label with the capacity of the node's network; undefined if no label has it
 */
export function trimNode(
  fieldManager: string,
  { capacityLabel }: { readonly capacityLabel?: string | undefined } = {},
): (node: KubeObject) => CachedNode {
  const labelled = new Interner<OwnedLabels>({ most: MOST_SHARED });
  const values = new Interner<string>({ most: MOST_SHARED, textOf: String });
  const sets = new LabelSets();
  const capacityOf = createCapacityReader(capacityLabel);
  return (node) => {
    const { name = '', uid, resourceVersion, creationTimestamp, labels: all = {} } = node.metadata ?? {};
    const capacity = capacityOf(node);
    const labels = unfitLabelsOf(all, values);
    const neverMeasured = whyNeverMeasured(node.metadata);
    const { notReadySince } = stateOf(node);
    const podCIDRs = (node as V1Node).spec?.podCIDRs ?? [];
    const shared = labelled.share({ labels, ...ownersOf(node, Object.keys(labels), fieldManager) });
    const writtenAt = shared.ownedKeys.length === 0 ? undefined : writtenAtOf(node, fieldManager);
    return {
      metadata: { name, uid, resourceVersion },
      name,
      createdAt: new Date(creationTimestamp ?? 0).getTime(),
      ...shared,
      ...(writtenAt === undefined ? {} : { writtenAt }),
      otherLabels: sets.of(all, isOtherLabel),
      ...hostnameOf(name, all),
      ...(capacity === undefined ? {} : { capacity }),
      addresses: addressesOf(node),
      ...(podCIDRs.length === 0 ? {} : { podCIDRs }),
      ...(neverMeasured === undefined ? {} : { neverMeasured }),
      ...(notReadySince === undefined ? {} : { notReadySince }),
      ...(isBeingEmptied(node) ? { isBeingEmptied: true } : {}),
    };
  };
}

/** Returns whether two states of a Node differ in a field that the operator reads. A heartbeat changes no such field. */
export function nodeChanged(a: CachedNode, b: CachedNode): boolean {
  const relevant = (n: CachedNode): string => JSON.stringify([n.labels, n.ownedKeys, n.capacity, n.addresses]);
  return relevant(a) !== relevant(b);
}

/** The fields of a CachedNode that hold its labels. */
export type Labelled = Pick<CachedNode, 'labels'> & Partial<Pick<CachedNode, 'otherLabels' | 'hostname'>>;

/** Returns the value of any label of a Node; undefined if the Node does not have the label. */
export function labelOf({ labels, otherLabels, hostname }: Labelled, key: string): string | undefined {
  if (key === HOSTNAME_LABEL) return hostname;
  if (key.endsWith(UNFIT_SUFFIX)) return labels[key];
  return otherLabels && valueIn(otherLabels, key);
}

/** Labels by position: `values[i]` belongs to `keys[i]`. Arrays take a sixth of the memory of an object of 25 labels. */
export interface LabelSet {
  readonly keys: readonly string[];
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** How many sets are kept for sharing: node groups times zones, times instance types in autoscaled clusters. */
const MOST_SETS = 512;
/** How many values are kept for sharing. Sets that differ in a single label share the values of the others. */
const MOST_VALUES = 4096;
/** How many lists of keys are kept for sharing: few differ, because the same components label all nodes. */
const MOST_KEY_LISTS = 64;

/**
 * Keeps the labels of nodes in little memory: nodes with the same labels share one set, other sets share their keys and
 * values. 10,000 nodes with 25 labels take 0.1 MB if only the hostname differs within a node group; if another label is
 * different on each node, 3 MB.
 */
export class LabelSets {
  readonly #sets = new Interner<LabelSet>({ most: MOST_SETS, textOf });
  readonly #keys = new Interner<readonly string[]>({ most: MOST_KEY_LISTS, textOf: (keys) => keys.join(' ') });
  readonly #values = new Interner<string>({ most: MOST_VALUES, textOf: String });

  /** @param isKept whether the label of this key is part of the set */
  of(labels: Labels, isKept: (key: string) => boolean): LabelSet {
    const keys = Object.keys(labels).filter(isKept);
    const set = { keys: keys as readonly string[], values: keys.map((key) => labels[key] ?? '') };
    const known = this.#sets.share(set);
    if (known !== set) return known;
    // Only now, because most nodes have a known set.
    set.keys = this.#keys.share(keys);
    set.values = set.values.map((value) => this.#values.share(value));
    return set;
  }
}

/** Keys and values of labels contain neither spaces nor line breaks. This is a third of the time of JSON. */
function textOf({ keys, values }: LabelSet): string {
  return `${keys.join(' ')}\n${values.join('\n')}`;
}

/** The value of a label; undefined if the set does not contain it. */
export function valueIn({ keys, values }: LabelSet, key: string): string | undefined {
  const place = keys.indexOf(key);
  return place < 0 ? undefined : values[place];
}
