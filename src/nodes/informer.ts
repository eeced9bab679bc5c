import { isDeepStrictEqual } from 'node:util';
import type { Informer, InformerOptions } from '../runtime/cache/informer.ts';
import { createInformer } from '../runtime/cache/informer.ts';
import { NODES } from '../runtime/client/resources.ts';
import { keyOf, type KubeObject, type Resource } from '../runtime/client/resource.ts';
import type { KnownNode } from './nodeNames.ts';
import type { CachedNode } from './cachedNode.ts';

/** The options of the Node informer. */
type NodeInformerOptions = Pick<InformerOptions<CachedNode>, 'transport' | 'logger' | 'metrics' | 'clock'> & {
  /** See `trimNode`. */
  trim: (node: KubeObject) => CachedNode;
};

/**
 * Creates the shared informer of Nodes, whole and not only their metadata: series of a Prometheus that a stack uses may have only the address
 * of a node, and a node that is not Ready tells why pods of a stack are not available.
 */
export function createNodeInformer({ trim, ...rest }: NodeInformerOptions): Informer<CachedNode> {
  return createInformer<CachedNode>({ ...rest, resource: NODES as Resource<CachedNode>, transform: trim });
}

/**
 * Returns a function that returns the nodes for the resolution of series. It returns the same map until a node is added
 * or deleted, or its capacity, addresses or ranges of pods change. Each pass compares the maps to know whether its caches are valid.
 */
export function knownNodes(informer: Pick<Informer<CachedNode>, 'subscribe' | 'lister'>): () => KnownNodes {
  let known: KnownNodes | undefined;
  informer.subscribe((event) => {
    if (event.type !== 'update' || event.old === undefined || !isKnownAlike(event.old, event.object)) known = undefined;
  });
  return () => (known ??= new Map(informer.lister.list().map((node) => [keyOf(node), knownOf(node)])));
}

type KnownNodes = ReadonlyMap<string, KnownNode>;

/** Shared by nodes without a stated capacity and addresses: most nodes, if addresses are not needed. */
const ONLY_A_NAME: KnownNode = Object.freeze({});

/** A new object with only these fields. The Node itself is replaced with each heartbeat. */
function knownOf({ capacity, addresses, podCIDRs }: CachedNode): KnownNode {
  if (capacity === undefined && addresses.length === 0) return ONLY_A_NAME;
  return { ...(capacity !== undefined && { capacity }), addresses, ...(podCIDRs !== undefined && { podCIDRs }) };
}

function isKnownAlike(one: CachedNode, other: CachedNode): boolean {
  const partsOf = ({ capacity, addresses, podCIDRs }: CachedNode): unknown => [capacity, addresses, podCIDRs];
  return isDeepStrictEqual(partsOf(one), partsOf(other));
}
