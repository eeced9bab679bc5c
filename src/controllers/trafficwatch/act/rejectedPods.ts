import { createSelectorMatcher, requirementsOf } from '../../../api/labelMatcher.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import type { Lister } from '../../../runtime/cache/informer.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { sideOfLabel } from '../model/label.ts';
import { decideRejections, type Rejection } from '../decide/report/events.ts';
import { MOST_REQUIREMENTS } from '../decide/workload/blockedPods.ts';
import { workloadSelectorOf } from '../decide/workload/podPlacement.ts';
import type { Observation } from '../observe/observation.ts';
import { BY_REQUIRED_KEY, inNamespace, type EndedPod } from '../observe/workload/endedPods.ts';

function rejectionOf({ metadata, rejected }: EndedPod): Rejection {
  const { node = '', endedAt: failedAt } = rejected ?? {};
  return { uid: metadata?.uid ?? '', pod: metadata?.name ?? '', node, failedAt };
}

/** The nodes labelled as unfit. In a rename, under either key: the pods may be scheduled by either. */
function unfitNodesOf({ keys, view }: Observation): Set<string> {
  return new Set(
    view.nodes
      .filter(({ labels }) => keys.claimed.some((key) => sideOfLabel(labels[key]) === 'above'))
      .map(({ name }) => name),
  );
}

/** Emits an event on a TrafficWatch when a kubelet has rejected pods of its workload after a restart. */
export class PodRejections {
  readonly #pods: Pick<Lister<EndedPod>, 'byIndex'>;
  readonly #events: Pick<EventRecorder, 'event'>;
  /** UIDs of the pods that were checked, by the TrafficWatch's key. */
  readonly #seen = new Map<string, ReadonlySet<string>>();

  constructor(o: { endedPods: Pick<Lister<EndedPod>, 'byIndex'>; events: Pick<EventRecorder, 'event'> }) {
    this.#pods = o.endedPods;
    this.#events = o.events;
  }

  /** Emits events for new rejections. Call in every reconcile of a TrafficWatch by the leader. */
  tell(o: Observation): void {
    const key = keyOf(o.watch);
    const rejections = this.#podsOf(o).map(rejectionOf);
    // The usual case: do not compute the unfit nodes.
    if (rejections.length === 0) {
      this.#seen.delete(key);
      return;
    }
    const seen = this.#seen.get(key) ?? new Set();
    const decision = decideRejections({ rejections, seen, unfitNodes: unfitNodesOf(o), now: o.now });
    this.#seen.set(key, decision.seen);
    for (const { type, reason, note } of decision.events) this.#events.event(o.watch, type, reason, note);
  }

  #podsOf(o: Observation): readonly EndedPod[] {
    const { namespace } = o.watch.metadata ?? {};
    const found = o.keys.claimed.flatMap((key) => this.#pods.byIndex(BY_REQUIRED_KEY, inNamespace(namespace, key)));
    if (found.length === 0) return found;
    const selector = workloadSelectorOf(o);
    if (selector === undefined || requirementsOf(selector) > MOST_REQUIREMENTS) return [];
    const matches = createSelectorMatcher(selector);
    return found.filter(({ rejected }) => matches(rejected?.labels ?? {}));
  }

  /** Call when the TrafficWatch of this key is deleted. */
  forget(key: string): void {
    this.#seen.delete(key);
  }
}
