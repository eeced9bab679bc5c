import { isDeepStrictEqual } from 'node:util';
import type { Informer, InformerOptions } from '../runtime/cache/informer.ts';
import { createInformer } from '../runtime/cache/informer.ts';
import { NODES } from '../runtime/client/resources.ts';
import { keyOf, type Resource } from '../runtime/client/resource.ts';
import type { KnownNode } from './nodeNames.ts';
import { trimNode, type CachedNode } from './cachedNode.ts';

/** What the Node informer needs of the process. */
export type NodeInformerOptions = Pick<InformerOptions<CachedNode>, 'transport' | 'logger' | 'metrics' | 'clock'> & {
  /** Whose label keys count as owned. */
  fieldManager: string;
  /** Where series carry `instance`, addresses are needed, and with them whole Nodes; metadata is enough otherwise. */
  withAddresses: boolean;
};

/** The one informer of Nodes, which everything shares. */
export function createNodeInformer({
  fieldManager,
  withAddresses,
  ...rest
}: NodeInformerOptions): Informer<CachedNode> {
  return createInformer<CachedNode>({
    ...rest,
    resource: NODES as Resource<CachedNode>,
    metadataOnly: !withAddresses,
    transform: trimNode(fieldManager),
  });
}

/**
 * The nodes as the usage of each is asked for. The same map until one of them comes, goes or changes in what matters
 * here: every pass asks, and finds by it whether what it knows of the last one still holds.
 */
export function knownNodes(informer: Pick<Informer<CachedNode>, 'subscribe' | 'lister'>): () => KnownNodes {
  let known: KnownNodes | undefined;
  informer.subscribe((event) => {
    if (event.type !== 'update' || event.old === undefined || !isKnownAlike(event.old, event.object)) known = undefined;
  });
  return () => (known ??= new Map(informer.lister.list().map((node) => [keyOf(node), knownOf(node)])));
}

type KnownNodes = ReadonlyMap<string, KnownNode>;

/** Most nodes are this, where addresses are not needed. */
const ONLY_A_NAME: KnownNode = Object.freeze({});

/** Not the Node itself, which heartbeats replace. */
function knownOf({ capacity, addresses }: CachedNode): KnownNode {
  if (capacity === undefined && addresses.length === 0) return ONLY_A_NAME;
  return capacity === undefined ? { addresses } : { capacity, addresses };
}

function isKnownAlike(one: CachedNode, other: CachedNode): boolean {
  return one.capacity === other.capacity && isDeepStrictEqual(one.addresses, other.addresses);
}
