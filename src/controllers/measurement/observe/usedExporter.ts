import type { V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import type { NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { InformerPool, PooledSelection } from '../../../runtime/cache/informerPool.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { DAEMONSETS, NODES, PODS } from '../../../runtime/client/resources.ts';
import type { Member } from '../../../runtime/objectSet/member.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Used } from '../../contract/keepers.ts';
import { podsSelectedBy } from '../../contract/labels.ts';
import type { Target } from '../decide/discovery.ts';
import { targetsOfNodes, targetsOfPods } from '../decide/usedTargets.ts';

/** Until the pods are listed again although the DaemonSet says nothing new: ms. The address of a node may change. */
const LIST_AGAIN_MS = 300_000;

export interface UsedExporterOptions {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly nodes: () => readonly NodeAddresses[];
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Watches its DaemonSet, for as long as it is used. */
  readonly watches: Pick<InformerPool, 'hold' | 'current'>;
  /** The exporter of somebody else that a TrafficStack uses; undefined if none does. */
  readonly used: () => Used | undefined;
  /** That of a component that names none. */
  readonly port: number;
}

/**
 * The targets of an exporter of somebody else. It has no EndpointSlices under a name that is known, so its pods are listed: when its DaemonSet has
 * another resourceVersion, as its status has with each pod that comes or goes. One that no object shows is on all nodes.
 */
export class UsedExporter {
  readonly #o: UsedExporterOptions;
  #known: { readonly version: string; readonly at: number; readonly targets: readonly Target[] } | undefined;

  constructor(options: UsedExporterOptions) {
    this.#o = options;
  }

  /** Whether there is one of which a change is no event: no object shows it, or its watch is not current. */
  get isBlind(): boolean {
    const used = this.#o.used();
    return used !== undefined && (isOfNodes(used) || this.#o.watches.current(selectionOf(used)) === undefined);
  }

  /** As they were read last; none without one. */
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
    this.#o.watches.hold('targets', hasPods ? [{ selection: selectionOf(used) }] : []);
    const daemonSet = hasPods ? await this.#daemonSetOf(used) : undefined;
    if (used === undefined || daemonSet === undefined) {
      this.#known = undefined;
      return;
    }
    const port = this.#portOf(used);
    const version = `${daemonSet.metadata?.uid} ${daemonSet.metadata?.resourceVersion} ${port}`;
    const now = this.#o.clock.monotonic();
    if (this.#known?.version === version && now - this.#known.at < LIST_AGAIN_MS) return;
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

/** Whether no object shows it: the stack names a node that has it. */
function isOfNodes({ workload }: Used): boolean {
  return workload.kind === NODES.kind;
}

function memberOf({ workload: { namespace, name } }: Used): Member {
  return { resource: DAEMONSETS, object: { metadata: { namespace, name } } };
}

function selectionOf({ workload: { namespace, name } }: Used): PooledSelection {
  return { resource: DAEMONSETS, namespace, fieldSelector: `metadata.name=${name}`, transform: withoutManagedFields };
}
