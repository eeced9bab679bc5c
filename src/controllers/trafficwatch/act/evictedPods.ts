import { createSelectorMatcher, requirementsOf, type SelectorLike } from '../../../api/labelMatcher.ts';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { InformerEvent, Lister } from '../../../runtime/cache/store.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { NEWS_FOR_MS } from '../decide/report/events.ts';
import { decideEvictionEvent, withEviction, type Evictions } from '../decide/report/evictions.ts';
import { MOST_REQUIREMENTS } from '../decide/workload/blockedPods.ts';
import { workloadSelectorOf } from '../decide/workload/podPlacement.ts';
import { sideOfLabel } from '../model/label.ts';
import type { Observation } from '../observe/observation.ts';
import { wasLost, type EndedPod, type LostPod } from '../observe/workload/endedPods.ts';

/** The state of a TrafficWatch between two reconciles. */
interface Followed {
  /** Undefined if its pods are not known. */
  readonly selector: SelectorLike | undefined;
  /** The label keys that it claims. */
  readonly labelKeys: readonly string[];
  readonly evictions?: Evictions | undefined;
  /** When the last event was emitted: ms since the epoch. */
  readonly toldAt?: number | undefined;
}

interface Options {
  /** The cache without this process's own writes: they lack the spec of a Node. */
  readonly nodes: Pick<Lister<CachedNode>, 'get'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Emits an event on a TrafficWatch when pods of its workload were evicted from unfit nodes, as a descheduler does. A pod is
 * counted when it ends, since its kubelet deletes it right after that.
 */
export class PodEvictions {
  readonly #options: Options;
  /** By the TrafficWatch's key. */
  readonly #followed = new Map<string, Followed>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Counts an evicted pod. Call for every event of the cache of ended pods.
   *
   * @param watchKeys the TrafficWatches that may select the pod
   */
  saw(event: InformerEvent<EndedPod>, watchKeys: readonly string[]): void {
    const { evicted } = event.object;
    if (evicted === undefined || event.type === 'delete' || wasLost(event)) return;
    const now = this.#options.clock.now();
    if (now - (evicted.endedAt ?? now) > NEWS_FOR_MS) return;
    const unfitKeys = this.#unfitKeysOf(evicted);
    for (const key of unfitKeys.length === 0 ? [] : watchKeys) {
      const followed = this.#followed.get(key);
      if (followed === undefined || !concerns(followed, evicted, unfitKeys)) continue;
      this.#followed.set(key, { ...followed, evictions: withEviction(followed.evictions, evicted.node, now) });
    }
  }

  /** The label keys of the pod under which its node is unfit. None if the node is emptied: that is not a descheduler. */
  #unfitKeysOf({ node, keys }: LostPod): string[] {
    const { labels = {}, isBeingEmptied = false } = this.#options.nodes.get(node) ?? {};
    return isBeingEmptied ? [] : keys.filter((key) => sideOfLabel(labels[key]) === 'above');
  }

  /**
   * Remembers which pods belong to the TrafficWatch, and emits the event that is due. Call in every reconcile.
   *
   * @param isLeader a standby remembers no evictions: the leader reports them
   */
  tell(o: Observation, isLeader: boolean): void {
    const key = keyOf(o.watch);
    // Thousands may be beyond the limits.
    if (o.limitProblem !== undefined) {
      this.forget(key);
      return;
    }
    const before = isLeader ? this.#followed.get(key) : undefined;
    const { evictions, toldAt } = before ?? {};
    const { spec } = o.watch;
    const event = evictions && decideEvictionEvent({ evictions, toldAt, spec, now: o.now });
    this.#followed.set(key, {
      ...before,
      ...{ selector: workloadSelectorOf(o), labelKeys: o.keys.claimed },
      ...(event && { evictions: undefined, toldAt: o.now }),
    });
    if (event) this.#options.events.event(o.watch, event.type, event.reason, event.note);
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#followed.delete(key);
  }
}

function concerns({ selector, labelKeys }: Followed, pod: LostPod, unfitKeys: readonly string[]): boolean {
  if (selector === undefined || requirementsOf(selector) > MOST_REQUIREMENTS) return false;
  return labelKeys.some((key) => unfitKeys.includes(key)) && createSelectorMatcher(selector)(pod.labels);
}
