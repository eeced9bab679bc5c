import type { CachedNode } from '../../nodes/cachedNode.ts';
import type { UnmeasuredNodes } from '../../nodes/unmeasuredNodes.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { Client } from '../../runtime/client/client.ts';
import type { Transport } from '../../runtime/client/transport.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { RuntimeMetrics } from '../../runtime/manager/metrics.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { UsageFeed } from '../../usage/pass/feed.ts';
import type { MeasuringState } from './measuring.ts';

/** What the controllers of one process share. */
export interface ControllerContext {
  /** Refuses to write while this process does not lead. */
  readonly client: Client;
  /** For informers and what the client has no word for. */
  readonly transport: Transport;
  readonly events: EventRecorder;
  /** A standby observes and decides like the leader, but does not write. */
  readonly isLeader: () => boolean;
  /** The one informer of Nodes. */
  readonly nodes: Informer<CachedNode>;
  /** Why nodes have no figures. */
  readonly unmeasured: UnmeasuredNodes;
  /** How full the nodes' networks are. */
  readonly feed: UsageFeed;
  readonly measuring: MeasuringState;
  /** The pod that this process runs in; undefined outside of a cluster. */
  readonly podName: string | undefined;
  readonly metrics: RuntimeMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What a clean-up works with: nothing else writes meanwhile. */
export interface CleanupContext {
  readonly client: Client;
  /** The operator's own. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}
