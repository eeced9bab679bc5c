import type { V1ManagedFieldsEntry, V1Node } from '@kubernetes/client-node';
import type { KubeObject } from '../runtime/client/resource.ts';
import { Interner } from '../runtime/process/interner.ts';
import { whyNeverMeasured, type NotMeasurable } from './notMeasurable.ts';

/** Suffix of the label keys that the operator writes on nodes: `<prefix>.traffic.example.com/unfit`. */
const UNFIT_SUFFIX = '.traffic.example.com/unfit';
/** Node annotation that stands in for the capacity of the node's network, such as "25Gbit". */
const CAPACITY_ANNOTATION = 'traffic.example.com/capacity';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';

/** All that is kept of a Node in memory: a few hundred bytes of the dozen KiB that it has. */
export interface CachedNode extends KubeObject {
  name: string;
  /** When it joined, ms since the epoch by the API server's clock. */
  createdAt: number;
  /** Labels that end in UNFIT_SUFFIX, whoever wrote them. */
  labels: Readonly<Record<string, string>>;
  /** Of those, the keys that the given field manager owns. */
  ownedKeys: readonly string[];
  /** Of those that it does not own, key to the field manager that does; absent where there is none. */
  otherOwners?: Readonly<Record<string, string>>;
  /** Value of CAPACITY_ANNOTATION as it was written. */
  capacity?: string;
  /** Names and IPs by which series may call the node: hostname label, status.addresses. */
  addresses: readonly string[];
  /** Why its labels say that it cannot be measured; absent on most. One object for all nodes of a kind. */
  neverMeasured?: NotMeasurable;
}

/** Most nodes have none of these when a cluster is first seen: then they share this. */
const NO_LABELS: Readonly<Record<string, string>> = Object.freeze({});
const NO_KEYS: readonly string[] = Object.freeze([]);
/** Most nodes have the labels of one of a few others, and two values in them: more than these are not looked for. */
const MOST_SHARED = 16;

type Labelled = Pick<CachedNode, 'labels' | 'ownedKeys' | 'otherOwners'>;

function unfitLabelsOf(
  labels: Readonly<Record<string, string>> = {},
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
 * Sorts label keys by whether the field manager owns them. A key that it owns may be gone from the labels: who takes a
 * label off owns nothing. So only those that are there are looked at.
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

function addressesOf(node: V1Node): readonly string[] {
  const hostname = node.metadata?.labels?.[HOSTNAME_LABEL];
  const addresses = (node.status?.addresses ?? []).map((a) => a.address);
  return [...new Set([...(hostname === undefined ? [] : [hostname]), ...addresses])];
}

/**
 * Makes the transform of the Node informer: what nobody reads is dropped before it is kept.
 * @param fieldManager whose label keys count as owned.
 */
export function trimNode(fieldManager: string): (node: KubeObject) => CachedNode {
  const labelled = new Interner<Labelled>({ most: MOST_SHARED });
  const values = new Interner<string>({ most: MOST_SHARED, textOf: String });
  return (node) => {
    const { name = '', uid, resourceVersion, creationTimestamp } = node.metadata ?? {};
    const capacity = node.metadata?.annotations?.[CAPACITY_ANNOTATION];
    const labels = unfitLabelsOf(node.metadata?.labels, values);
    const neverMeasured = whyNeverMeasured(node.metadata?.labels);
    return {
      metadata: { name, uid, resourceVersion },
      name,
      createdAt: new Date(creationTimestamp ?? 0).getTime(),
      ...labelled.share({ labels, ...ownersOf(node, Object.keys(labels), fieldManager) }),
      ...(capacity === undefined ? {} : { capacity }),
      addresses: addressesOf(node),
      ...(neverMeasured === undefined ? {} : { neverMeasured }),
    };
  };
}

/** True when two states of a Node differ in something that the operator reads; a heartbeat does not. */
export function nodeChanged(a: CachedNode, b: CachedNode): boolean {
  const relevant = (n: CachedNode): string => JSON.stringify([n.labels, n.ownedKeys, n.capacity, n.addresses]);
  return relevant(a) !== relevant(b);
}
