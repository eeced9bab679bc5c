import type { V1ManagedFieldsEntry, V1Node } from '@kubernetes/client-node';
import type { KubeObject } from '../runtime/resource.ts';

/** Suffix of the label keys that the operator writes on nodes: `<prefix>.traffic.example.com/unfit`. */
export const UNFIT_SUFFIX = '.traffic.example.com/unfit';
/** Node annotation that stands in for the capacity of the node's network, such as "25Gbit". */
export const CAPACITY_ANNOTATION = 'traffic.example.com/capacity';
const HOSTNAME_LABEL = 'kubernetes.io/hostname';

/** All that is kept of a Node in memory: a few hundred bytes of the dozen KiB that it has. */
export interface CachedNode extends KubeObject {
  /** Labels that end in UNFIT_SUFFIX, whoever wrote them. */
  unfitLabels: Readonly<Record<string, string>>;
  /** Of those, the keys that the given field manager owns. */
  ownedKeys: readonly string[];
  /** Of those that it does not own, key to the field manager that does; absent where there is none. */
  otherOwners?: Readonly<Record<string, string>>;
  /** Value of CAPACITY_ANNOTATION as it was written. */
  capacity?: string;
  /** Names and IPs by which series may call the node: hostname label, status.addresses. */
  addresses: readonly string[];
}

function unfitLabelsOf(node: KubeObject): Record<string, string> {
  return Object.fromEntries(Object.entries(node.metadata?.labels ?? {}).filter(([key]) => key.endsWith(UNFIT_SUFFIX)));
}

interface FieldsV1 {
  'f:metadata'?: { 'f:labels'?: Record<string, unknown> };
}

function ownedKeysOf(node: KubeObject, fieldManager: string): string[] {
  const entries: readonly V1ManagedFieldsEntry[] = node.metadata?.managedFields ?? [];
  const keys = entries
    .filter((entry) => entry.manager === fieldManager)
    .flatMap((entry) => Object.keys(labelFields(entry)))
    .map((field) => field.replace(/^f:/, ''));
  return [...new Set(keys)].filter((key) => key.endsWith(UNFIT_SUFFIX));
}

function labelFields(entry: V1ManagedFieldsEntry): Record<string, unknown> {
  return (entry.fieldsV1 as FieldsV1 | undefined)?.['f:metadata']?.['f:labels'] ?? {};
}

function otherOwnersOf(node: KubeObject, ownedKeys: readonly string[]): Record<string, string> | undefined {
  const keys = Object.keys(unfitLabelsOf(node)).filter((key) => !ownedKeys.includes(key));
  if (keys.length === 0) return undefined;
  const entries: readonly V1ManagedFieldsEntry[] = node.metadata?.managedFields ?? [];
  const owners = keys.flatMap((key) => {
    const owner = entries.find((entry) => `f:${key}` in labelFields(entry))?.manager;
    return owner === undefined ? [] : [[key, owner] as const];
  });
  return Object.fromEntries(owners);
}

function addressesOf(node: V1Node): string[] {
  const hostname = node.metadata?.labels?.[HOSTNAME_LABEL];
  const addresses = (node.status?.addresses ?? []).map((a) => a.address);
  return [...new Set([...(hostname === undefined ? [] : [hostname]), ...addresses])];
}

/**
 * Makes the transform of the Node informer: what nobody reads is dropped before it is kept.
 * @param fieldManager whose label keys count as owned.
 */
export function trimNode(fieldManager: string): (node: KubeObject) => CachedNode {
  return (node) => {
    const { name, uid, resourceVersion, creationTimestamp } = node.metadata ?? {};
    const capacity = node.metadata?.annotations?.[CAPACITY_ANNOTATION];
    const ownedKeys = ownedKeysOf(node, fieldManager);
    const otherOwners = otherOwnersOf(node, ownedKeys);
    return {
      metadata: { name, uid, resourceVersion, creationTimestamp },
      unfitLabels: unfitLabelsOf(node),
      ownedKeys,
      ...(otherOwners === undefined ? {} : { otherOwners }),
      ...(capacity === undefined ? {} : { capacity }),
      addresses: addressesOf(node),
    };
  };
}

/** True when two states of a Node differ in something that the operator reads; a heartbeat does not. */
export function nodeChanged(a: CachedNode, b: CachedNode): boolean {
  const relevant = (n: CachedNode): string => JSON.stringify([n.unfitLabels, n.ownedKeys, n.capacity, n.addresses]);
  return relevant(a) !== relevant(b);
}
