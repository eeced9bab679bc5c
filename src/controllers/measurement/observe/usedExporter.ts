import type { V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import type { NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { InformerPool, PooledSelection } from '../../../runtime/cache/informerPool.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, NODES, PODS } from '../../../runtime/client/resources.ts';
import type { Member } from '../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Used } from '../../contract/stackOwnership.ts';
import { podsSelectedBy } from '../../contract/labels.ts';
import { type Target, targetsOfNodes, targetsOfPods } from '../model/discovery.ts';

/** Time until the pods are listed again although the DaemonSet is unchanged, ms. The address of a node may change. */
const RELIST_MS = 300_000;

interface UsedExporterOptions {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly nodes: () => readonly NodeAddresses[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The watches of DaemonSets: each lasts as long as its DaemonSet is used. */
  readonly watches: Pick<InformerPool, 'watch' | 'current'>;
  /** Returns the existing exporter that a TrafficStack uses; undefined if none does. */
  readonly used: () => Used | undefined;
  /** The port of a component whose spec has none. */
  readonly port: number;
}

/**
 * Reads the targets of an existing exporter that the stack does not manage. The name of its EndpointSlices is not known, so its pods are listed, whenever
 * the resourceVersion of its DaemonSet changes: each added or removed pod changes the status. An exporter without a Kubernetes object is on all nodes.
 */
export class UsedExporter {
  readonly #o: UsedExporterOptions;
  #known: { readonly version: string; readonly at: number; readonly targets: readonly Target[] } | undefined;

  constructor(options: UsedExporterOptions) {
    this.#o = options;
  }

  /** Whether an exporter is used whose changes cause no event: it has no Kubernetes object, or its watch is not current. */
  get isWithoutEvents(): boolean {
    const used = this.#o.used();
    return used !== undefined && (isOfNodes(used) || this.#o.watches.current(selectionOf(used)) === undefined);
  }

  /** Returns the targets that were read last; none without an exporter. */
  targets(): readonly Target[] {
    const used = this.#o.used();
    return used !== undefined && isOfNodes(used)
      ? targetsOfNodes(this.#o.nodes(), this.#portOf(used))
      : (this.#known?.targets ?? []);
  }

  /** Reads the DaemonSet, and its pods if it has changed. @throws ApiError, TransportError */
  async read(): Promise<void> {
    const used = this.#o.used();
    const hasPods = used !== undefined && !isOfNodes(used);
    this.#o.watches.watch('targets', hasPods ? [{ selection: selectionOf(used) }] : []);
    const daemonSet = hasPods ? await this.#daemonSetOf(used) : undefined;
    if (used === undefined || daemonSet === undefined) {
      this.#known = undefined;
      return;
    }
    const port = this.#portOf(used);
    const version = `${daemonSet.metadata?.uid} ${daemonSet.metadata?.resourceVersion} ${port}`;
    const now = this.#o.clock.monotonic();
    if (this.#known?.version === version && now - this.#known.at < RELIST_MS) return;
    this.#known = { version, at: now, targets: targetsOfPods(await this.#podsOf(daemonSet), port) };
  }

  #portOf({ component }: Used): number {
    return component.nodeExporter?.port ?? this.#o.port;
  }

  async #daemonSetOf(used: Used): Promise<V1DaemonSet | undefined> {
    const member = memberOf(used);
    const cache = this.#o.watches.current(selectionOf(used));
    return cache === undefined ? readLive(this.#o.client, member) : cache.get(keyOf(member.object));
  }

  async #podsOf(daemonSet: V1DaemonSet): Promise<V1Pod[]> {
    const pods = await this.#o.client.list(PODS, podsSelectedBy(daemonSet));
    const uid = daemonSet.metadata?.uid;
    return pods.filter((pod) => pod.metadata?.ownerReferences?.some((owner) => owner.uid === uid) === true);
  }
}

/** Whether the exporter has no Kubernetes object: the status of the stack names a node that runs it. */
function isOfNodes({ workload }: Used): boolean {
  return workload.kind === NODES.kind;
}

function memberOf({ workload: { namespace, name } }: Used): Member {
  return { resource: DAEMONSETS, object: { metadata: { namespace, name } } };
}

function selectionOf({ workload: { namespace, name } }: Used): PooledSelection {
  return { resource: DAEMONSETS, namespace, fieldSelector: `metadata.name=${name}`, transform: withoutManagedFields };
}
