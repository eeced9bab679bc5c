import type { V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import type { Client } from '../../../runtime/client/client.ts';
import { DAEMONSETS, PODS } from '../../../runtime/client/resources.ts';
import type { Member } from '../../../runtime/objectSet/member.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { Used } from '../../contract/keepers.ts';
import { podsSelectedBy } from '../../contract/labels.ts';
import type { Target } from '../decide/discovery.ts';
import { targetsOfPods } from '../decide/usedTargets.ts';

/** Until the pods are listed again although the DaemonSet says nothing new: ms. The address of a node may change. */
const LIST_AGAIN_MS = 300_000;

export interface UsedExporterOptions {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The exporter of somebody else that a TrafficStack uses; undefined if none does. */
  readonly used: () => Used | undefined;
  /** That of a component that names none. */
  readonly port: number;
}

/**
 * The targets of an exporter of somebody else. It has no EndpointSlices under a name that is known, so its pods are listed: when its DaemonSet has
 * another resourceVersion, as its status has with each pod that comes or goes.
 */
export class UsedExporter {
  readonly #o: UsedExporterOptions;
  #known: { readonly version: string; readonly at: number; readonly targets: readonly Target[] } | undefined;

  constructor(options: UsedExporterOptions) {
    this.#o = options;
  }

  /** Whether there is one. It sends no events. */
  get isUsed(): boolean {
    return this.#o.used() !== undefined;
  }

  /** As they were read last; none without one. */
  targets(): readonly Target[] {
    return this.#known?.targets ?? [];
  }

  /** Reads the DaemonSet, and its pods if it has changed. @throws ApiError, TransportError */
  async read(): Promise<void> {
    const used = this.#o.used();
    const daemonSet: V1DaemonSet | undefined = used && (await readLive(this.#o.client, memberOf(used)));
    if (used === undefined || daemonSet === undefined) {
      this.#known = undefined;
      return;
    }
    const port = used.component.nodeExporter?.port ?? this.#o.port;
    const version = `${daemonSet.metadata?.uid} ${daemonSet.metadata?.resourceVersion} ${port}`;
    const now = this.#o.clock.monotonic();
    if (this.#known?.version === version && now - this.#known.at < LIST_AGAIN_MS) return;
    this.#known = { version, at: now, targets: targetsOfPods(await this.#podsOf(daemonSet), port) };
  }

  async #podsOf(daemonSet: V1DaemonSet): Promise<V1Pod[]> {
    const pods = await this.#o.client.list(PODS, podsSelectedBy(daemonSet));
    const uid = daemonSet.metadata?.uid;
    return pods.filter((pod) => pod.metadata?.ownerReferences?.some((owner) => owner.uid === uid) === true);
  }
}

function memberOf({ workload: { namespace, name } }: Used): Member {
  return { resource: DAEMONSETS, object: { metadata: { namespace, name } } };
}
