import type { Informer, InformerOptions } from '../runtime/informer.ts';
import { createInformer } from '../runtime/informer.ts';
import { NODES } from '../runtime/resources.ts';
import { keyOf, type Resource } from '../runtime/resource.ts';
import type { KnownNode } from '../usage/nodeNames.ts';
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

/** The nodes as the usage of each is asked for; kept as a map until the next event, since every pass asks. */
export function knownNodes(informer: Informer<CachedNode>): () => ReadonlyMap<string, KnownNode> {
  let known: ReadonlyMap<string, KnownNode> | undefined;
  informer.subscribe(() => (known = undefined));
  return () => (known ??= new Map(informer.lister.list().map((node) => [keyOf(node), node])));
}
