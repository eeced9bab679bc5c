import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { CachedNode } from '../../nodes/cachedNode.ts';
import type { UnmeasuredNodes } from '../../nodes/unmeasuredNodes.ts';
import type { PrometheusClient } from '../../prometheus/prometheusClient.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { UsageFeed } from '../../usage/pass/feed.ts';
import type { BuiltIn } from './builtIn.ts';
import type { MeasuringState } from './measuring.ts';

/** The dependencies that all controllers of a process share. */
export interface ControllerContext {
  /** Refuses writes in a standby. */
  readonly client: Client;
  /** For informers, and for requests that `client` does not support. */
  readonly transport: Transport;
  readonly events: EventRecorder;
  /** A standby observes and decides like the leader, but does not write. */
  readonly isLeader: () => boolean;
  /** The shared informer of Nodes. */
  readonly nodes: Informer<CachedNode>;
  /** The transform of that informer. Responses to writes go through it too: they must not differ from the cache. */
  readonly trimNode: (node: KubeObject) => CachedNode;
  readonly stacks: StackSource;
  /** The built-in components that the controllers of this process offer to TrafficStacks. */
  readonly builtIns: readonly BuiltIn[];
  /** Nodes that cannot be measured, and why. */
  readonly unmeasured: UnmeasuredNodes;
  /** The bandwidth use of the nodes, from each pass over Prometheus. */
  readonly feed: UsageFeed;
  /** The Prometheus that the nodes are measured with. */
  readonly prometheus: Pick<PrometheusClient, 'query'>;
  readonly measuring: MeasuringState;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly metrics: RuntimeMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The TrafficStacks of the cluster. */
export interface StackSource {
  /** The shared informer of all of them. */
  readonly informer: Informer<TrafficStack>;
  /** Leaves only those that are run: while the stacks of users are off, that is the stack `default`. */
  readonly active: (stacks: readonly TrafficStack[]) => readonly TrafficStack[];
}

/** The dependencies of a clean-up. No other process of the operator writes meanwhile. */
export interface CleanupContext {
  readonly client: Client;
  /** The namespace of the operator. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}
