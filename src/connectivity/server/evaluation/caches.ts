import { isDeepStrictEqual } from 'node:util';
import { CONNECTIVITY_CHECKS, type ConnectivityCheck } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { BodyBudget, createBoundedInformer, identityOf } from '../../../runtime/cache/bodyBudget.ts';
import { shareOfHeap } from '../../../runtime/cache/fairShare.ts';
import {
  createInformer,
  withoutAnnotations,
  withoutManagedFields,
  type Informer,
  type InformerEvent,
  type InformerOptions,
} from '../../../runtime/cache/informer.ts';
import { keyOf, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { NODES } from '../../../runtime/client/resources.ts';
import type { AgentPod } from '../pods/agentPod.ts';
import { toClusterNode, type ClusterNode } from '../view/clusterNode.ts';

/** The caches of an evaluation. The original API needs only the pods. */
export interface ClusterCaches {
  readonly nodes: Informer<ClusterNode>;
  readonly pods: Informer<AgentPod>;
  readonly checks: Informer<ConnectivityCheck>;
}

type CacheOptions = Pick<InformerOptions<KubeObject>, 'transport' | 'logger' | 'metrics' | 'onRefusal'>;

/** The informer of the Nodes, trimmed. */
export function createNodeInformer(options: CacheOptions): Informer<ClusterNode> {
  const resource = NODES as Resource as Resource<ClusterNode>;
  return createInformer<ClusterNode>({
    ...options,
    resource,
    transform: (node: KubeObject) => toClusterNode(node),
  });
}

/** Part of the heap for the bodies of all ConnectivityChecks. */
const PART_OF_HEAP = 1 / 32;

/** The informer of the ConnectivityChecks. Of the status only the summary is kept: whether there are findings. If all take too much memory, it drops the specs of the largest (isWithoutBody). */
export function createCheckInformer(options: CacheOptions): Informer<ConnectivityCheck> {
  const transform = (check: ConnectivityCheck): ConnectivityCheck => {
    const { summary } = check.status ?? {};
    if (summary === undefined) delete check.status;
    else check.status = { summary };
    return withoutAnnotations(withoutManagedFields(check));
  };
  return createBoundedInformer<ConnectivityCheck>(
    { ...options, resource: CONNECTIVITY_CHECKS, transform },
    identityOf,
    {
      ...{ budget: new BodyBudget(Infinity, keyOf), share: shareOfHeap(PART_OF_HEAP) },
    },
  );
}

/** Whether all caches were filled once. */
export function areFilled({ nodes, pods, checks }: ClusterCaches): boolean {
  return [nodes, pods, checks].every(({ synced }) => synced);
}

/** Whether a cache can be relied on. If its watch is refused, it is stale. */
export function isCurrent({ synced, refusal }: Pick<Informer<KubeObject>, 'synced' | 'refusal'>): boolean {
  return synced && refusal === undefined;
}

/** Whether all caches can be relied on. */
export function areCurrent({ nodes, pods, checks }: ClusterCaches): boolean {
  return [nodes, pods, checks].every(isCurrent);
}

/** Whether an event changes more than the version of a trimmed object, as the heartbeats of nodes do. */
export function isChange<T extends KubeObject>(event: InformerEvent<T>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  return !isDeepStrictEqual(withoutVersion(event.old), withoutVersion(event.object));
}

function withoutVersion({ metadata, ...rest }: KubeObject): object {
  return { ...rest, metadata: { ...metadata, resourceVersion: undefined } };
}
